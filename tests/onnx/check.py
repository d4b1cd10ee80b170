"""Checks every ONNX file below a folder, including the shapes. Exits with 2 if onnx is not installed."""

import sys
from pathlib import Path

try:
    import onnx
except ImportError:
    sys.exit(2)

count = 0
failed = 0
for path in sorted(Path(sys.argv[1]).glob("*/*.onnx")):
    count += 1
    try:
        onnx.checker.check_model(str(path))
        onnx.checker.check_model(onnx.load(str(path)), full_check=True)
    except Exception as error:
        failed += 1
        print(f"{(path.parent / 'name').read_text()}: {error}")
print(f"python3-onnx {onnx.__version__}: {count} files checked in full, {failed} refused")
sys.exit(1 if failed else 0)
