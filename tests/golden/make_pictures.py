# Makes pictures.json: pictures and what Pillow makes of them in other sizes. Needs python3-pil.

import base64
import json
import pathlib

from PIL import Image


def picture(width, height):
    data = bytes((x * 37 + y * 91 + c * 53 + x * y * 7) % 256 for y in range(height) for x in range(width) for c in range(3))
    return Image.frombytes('RGB', (width, height), data)


text = lambda image: base64.b64encode(image.tobytes()).decode()
cases = []
for size, to in [((9, 7), (4, 5)), ((5, 6), (13, 8)), ((40, 31), (8, 8)), ((8, 8), (8, 3)), ((3, 2), (7, 2))]:
    image = picture(*size)
    for resample in [1, 2, 3]:
        cases.append({'size': size, 'data': text(image), 'to': to, 'resample': resample,
                      'expected': text(image.resize(to, resample))})
path = pathlib.Path(__file__).parent / 'pictures.json'
path.write_text(json.dumps(cases, indent=1) + '\n')
print(len(cases), path.stat().st_size)
