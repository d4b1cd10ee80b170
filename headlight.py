"""Attention weights in a notebook, or in a page of their own that needs no network.

    import headlight

    headlight.show(attentions, tokens)               # in a notebook
    headlight.save("heads.html", attentions, tokens)  # one file, to open or to hand on

Attentions are nested lists, or arrays of NumPy, PyTorch or anything that NumPy can read: (T,S), (H,T,S), (L,H,T,S),
(L,B,H,T,S), or the tuple of layers that a model of Hugging Face returns with `output_attentions=True`, each
(B,H,T,S). A file of its own without dependencies, for Python 3.8 and newer; `headlight.html` lies beside it.
"""

import array
import base64
import html
import json
import os
import re
import struct
import sys
import warnings
import zlib

__all__ = ["page", "save", "show"]

VIEWS = ("instrument", "head", "heads", "lines")
#: Weights are shares of 1, up to this much: half precision rounds.
ROUNDING = 0.02
MOST = 1 + ROUNDING
MAX_TOKENS = 4096
MAX_AXES = 5
#: Megabytes of a page that browsers open without trouble, and of one that is worth a word. Chromium opens 90 MB.
MAX_MEGABYTES = 100
LARGE_MEGABYTES = 10
#: Bytes of a number of each type of safetensors, and what `precision` calls it.
SIZES = {"F32": 4, "F16": 2, "U8": 1}
PRECISIONS = {"float32": "F32", "float16": "F16", "uint8": "U8"}
#: The attentions of an encoder-decoder.
PARTS = ("encoder_attentions", "decoder_attentions", "cross_attentions")
#: Blocks of the page that weights have no use for.
WHALE = ("whale.safetensors", "whale.tokenizer.json")


class _Numbers:
    """Numbers in row-major order: bytes, little end first, with a shape and the name of their type."""

    def __init__(self, data, shape, dtype, wrong=None):
        self.data = data
        self.wrong = wrong  # the first that is no weight
        self.shape = tuple(int(n) for n in shape)
        self.dtype = dtype
        self.size = SIZES[dtype]

    def part(self, index, shape):
        """The numbers of this shape that begin at so many of its length."""
        length = self.size
        for n in shape:
            length *= n
        return _Numbers(self.data[index * length : (index + 1) * length], shape, self.dtype)

    def values(self):
        """An array of NumPy of this shape where NumPy is installed, else a flat array of Python."""
        numpy = _numpy()
        if numpy:
            return numpy.frombuffer(self.data, "<f2" if self.dtype == "F16" else "<f4").reshape(self.shape)
        if self.dtype == "F16":
            return array.array("f", [x for (x,) in struct.iter_unpack("<e", self.data)])
        flat = array.array("f", self.data)
        if sys.byteorder == "big":
            flat.byteswap()
        return flat

    def as_type(self, dtype):
        """The same numbers as float32 or float16."""
        if self.dtype == dtype:
            return self
        values = self.values()
        if _numpy():
            data = values.astype("<f2" if dtype == "F16" else "<f4").tobytes()
        else:
            data = struct.pack("<%d%s" % (len(values), "e" if dtype == "F16" else "f"), *values)
        return _Numbers(data, self.shape, dtype)

    def as_shares(self):
        """Weights as bytes, the largest of each row 255: the page divides each row by its sum."""
        values = self.values()
        columns = self.shape[-1]
        if _numpy():
            most = values.max(axis=-1, keepdims=True)
            data = (values * (255.0 / (most + (most == 0))) + 0.5).astype("u1").tobytes()
        else:
            rows = [values[at : at + columns] for at in range(0, len(values), columns)]
            data = b"".join(bytes(int(x * 255 / (max(row) or 1) + 0.5) for x in row) for row in rows)
        return _Numbers(data, self.shape, "U8")

    def sums(self, axis):
        """Sums of (H,T,S) over the keys (axis 2) or over the queries (axis 1), in a flat list."""
        values = self.values()
        heads, rows, columns = self.shape
        if _numpy():
            return values.sum(axis=axis, dtype="f4").ravel().tolist()
        if axis == 2:
            return [sum(values[at : at + columns]) for at in range(0, len(values), columns)]
        size = rows * columns
        return [sum(values[h * size + s : (h + 1) * size : columns]) for h in range(heads) for s in range(columns)]

    def transposed(self):
        """(H,T,S) as (H,S,T)."""
        values = self.values()
        heads, rows, columns = self.shape
        shape = (heads, columns, rows)
        if _numpy():
            return _Numbers(values.swapaxes(1, 2).tobytes(), shape, self.dtype)
        size = rows * columns
        turned = array.array("f")
        for h in range(heads):
            for s in range(columns):
                turned.extend(values[h * size + s : (h + 1) * size : columns])
        return _Numbers(struct.pack("<%df" % len(turned), *turned), shape, "F32")


def _numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _short(value):
    """A value in a message: whatever it holds, a few words."""
    if isinstance(value, (str, int, float)):
        try:
            text = repr(value)
        except ValueError:  # an integer of thousands of digits
            text = "an integer"
        return text if len(text) <= 60 else text[:57] + "..."
    return "of type %s" % type(value).__name__


def _numbers(name, value):
    """Any array as _Numbers."""
    if value is None:
        raise TypeError(
            "%s is None: a model returns its attentions with output_attentions=True, "
            "and when it was loaded with attn_implementation='eager'" % name
        )
    for method in ("detach", "cpu"):  # PyTorch
        if hasattr(value, method):
            value = getattr(value, method)()
    if str(getattr(value, "dtype", "")) == "torch.bfloat16":
        value = value.float()
    if hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
        numpy = _numpy()
        if numpy is None:
            value = value.tolist()
        else:
            found = numpy.asarray(value)
            if found.dtype.kind not in "biuf":
                raise TypeError("%s holds %s, expected numbers" % (name, found.dtype))
            half = found.dtype == numpy.float16
            found = numpy.ascontiguousarray(found, dtype="<f2" if half else "<f4")
            wrong = found[(found < 0) | (found > MOST)]
            return _Numbers(found.tobytes(), found.shape, "F16" if half else "F32", wrong[0] if wrong.size else None)
    elif hasattr(value, "tolist"):
        value = value.tolist()
    flat = array.array("f")
    shape = _walk(name, value, flat)
    wrong = next((x for x in flat if x < 0 or x > MOST), None)
    if sys.byteorder == "big":
        flat.byteswap()
    return _Numbers(flat.tobytes(), shape, "F32", wrong)


def _walk(name, value, flat, depth=0):
    """Appends the numbers of nested lists, and returns their shape."""
    if not isinstance(value, (list, tuple)):
        try:
            flat.append(value)
        except (TypeError, OverflowError):
            raise TypeError("%s is %s, expected a number" % (name, _short(value))) from None
        return ()
    if depth == MAX_AXES:
        raise ValueError("%s is a list, expected a number: at most %d axes, (L,B,H,T,S)" % (name, MAX_AXES))
    shapes = [_walk("%s[%d]" % (name, i), item, flat, depth + 1) for i, item in enumerate(value)]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError("%s[%d] has shape %s, expected %s as those before it" % (name, i, shape, shapes[0]))
    return (len(shapes),) + (shapes[0] if shapes else ())


def _layers(name, numbers, batch, one):
    """Weights as layers of (H,T,S). one: these are of one layer."""
    shape = numbers.shape
    if not 2 <= len(shape) <= (4 if one else 5) or 0 in shape:
        forms = "(T,S), (H,T,S) or (B,H,T,S)" if one else "(T,S), (H,T,S), (L,H,T,S) or (L,B,H,T,S)"
        raise ValueError("%s has shape %s, expected %s" % (name, shape, forms))
    heads, tokens, keys = ((1,) + shape)[-3:]
    if max(tokens, keys) > MAX_TOKENS:
        raise ValueError("%s has shape %s, expected at most %d tokens" % (name, shape, MAX_TOKENS))
    batches = shape[-4] if len(shape) == (4 if one else 5) else 1
    if batches > 1 and batch is None:
        raise ValueError("%s has a batch of %d texts: batch says which, from 0" % (name, batches))
    if batch is not None and not 0 <= batch < batches:
        raise ValueError("batch is %r, expected an integer from 0 to %d" % (batch, batches - 1))
    count = 1 if one or len(shape) < 4 else shape[0]
    return [numbers.part(i * batches + (batch or 0), (heads, tokens, keys)) for i in range(count)]


def _is_one(total):
    """A row of weights; one that sees no key is 0, and NaN is shown as what it is."""
    return total != total or total == 0 or abs(total - 1) <= ROUNDING


def _check_rows(layers):
    """The first row of weights that does not sum to 1 is refused."""
    for i, layer in enumerate(layers):
        wrong = next(((row, total) for row, total in enumerate(layer.sums(2)) if not _is_one(total)), None)
        if wrong is None:
            continue
        if all(_is_one(total) for one in layers for total in one.sums(1)):
            raise ValueError("attentions: columns sum to 1, rows do not: transposed? transpose=True turns them round")
        row, total = wrong
        raise ValueError(
            "attentions: layer %d, head %d, row %d sums to %.3g, expected 1: weights after softmax, before dropout"
            % (i, row // layer.shape[1], row % layer.shape[1], total)
        )


def _check_output(attentions):
    """What a model returns by another name than attentions."""
    names = [name for name in PARTS if getattr(attentions, name, None) is not None]
    if names:
        parts = " or output.".join(names)
        raise ValueError("attentions is the output of an encoder-decoder, expected one part of it: output.%s" % parts)


def _stored(layers, precision):
    """The layers in one type."""
    if precision is None:
        dtype = "F16" if all(layer.dtype == "F16" for layer in layers) else "F32"
    else:
        dtype = PRECISIONS[precision]
    if dtype != "U8":
        return [layer.as_type(dtype) for layer in layers]
    if any(total != total for layer in layers for total in layer.sums(2)):
        raise ValueError("attentions holds NaN, which precision='uint8' cannot say: 'float16' can")
    return [layer.as_shares() for layer in layers]


def _weights(attentions, batch, transpose, precision):
    """Weights in any form as (L,H,T,S)."""
    name = "attentions"
    _check_output(attentions)
    if hasattr(attentions, "attentions") and not hasattr(attentions, "shape"):  # what a model has returned
        attentions = attentions.attentions
    if attentions is None:
        _numbers(name, None)
    listed = isinstance(attentions, (list, tuple))
    if listed and any(item is None or hasattr(item, "shape") for item in attentions):
        given = [_numbers("%s[%d]" % (name, i), layer) for i, layer in enumerate(attentions)]
        layers = [part for i, one in enumerate(given) for part in _layers("%s[%d]" % (name, i), one, batch, True)]
    else:
        given = [_numbers(name, attentions)]
        layers = _layers(name, given[0], batch, False)
    for numbers in given:
        if numbers.wrong is not None:
            raise ValueError(
                "%s holds %g, expected weights: numbers from 0 to 1, of which rows sum to 1" % (name, numbers.wrong)
            )
    first = layers[0]
    for i, layer in enumerate(layers):
        if layer.shape != first.shape:
            raise ValueError("%s[%d] has shape %s, expected %s" % (name, i, layer.shape, first.shape))
    if transpose:
        layers = [layer.transposed() for layer in layers]
    _check_rows(layers)
    layers = _stored(layers, precision)
    first = layers[0]
    return _Numbers(b"".join(layer.data for layer in layers), (len(layers),) + first.shape, first.dtype)


def _heads(q, k, v):
    """Queries, keys and values that fit together, as (H,T,D)."""
    found = {}
    for name, value in (("q", q), ("k", k), ("v", v)):
        if value is None:
            raise TypeError("%s is None: q, k and v belong together" % name)
        numbers = _numbers(name, value)
        shape = numbers.shape[1:] if len(numbers.shape) == 4 and numbers.shape[0] == 1 else numbers.shape
        if not 2 <= len(shape) <= 3 or 0 in shape:
            raise ValueError("%s has shape %s, expected (T,D), (H,T,D) or (1,H,T,D)" % (name, numbers.shape))
        found[name] = _Numbers(numbers.data, ((1,) + shape)[-3:], numbers.dtype)
    q, k, v = (found[name].shape for name in "qkv")
    if q[2] != k[2]:
        raise ValueError("k has width %d, expected %d as q" % (k[2], q[2]))
    if v[:2] != k[:2]:
        raise ValueError("v has %d heads of %d tokens, expected %d of %d as k" % (v[:2] + k[:2]))
    if q[0] % k[0]:
        raise ValueError("q has %d heads, expected a multiple of the %d of k" % (q[0], k[0]))
    return found


def _text(name, text):
    """A text that can be written."""
    if not isinstance(text, str):
        raise TypeError("%s is %s, expected a text" % (name, _short(text)))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("%s holds half of a surrogate pair, which cannot be written" % name) from None
    return text


def _texts(name, texts, count, batch):
    """A list of names; ids in a tensor, of one text or of a batch, are names as well."""
    if texts is None:
        return None
    if isinstance(texts, str):
        raise TypeError("%s is a text, expected a list of %d" % (name, count))
    listed = texts.tolist() if hasattr(texts, "tolist") else list(texts)
    if hasattr(texts, "tolist") and listed and isinstance(listed[0], list):
        if len(listed) > 1 and batch is None:
            raise ValueError("%s has a batch of %d texts: batch says which, from 0" % (name, len(listed)))
        listed = listed[(batch or 0) if len(listed) > 1 else 0]
    found = [str(text.item() if hasattr(text, "item") else text) for text in listed]
    if len(found) != count:
        raise ValueError("%s has %d texts, expected %d" % (name, len(found), count))
    return found


def _safetensors(tensors, told):
    """A file of safetensors with a text beside the numbers."""
    header = {"__metadata__": {"headlight": json.dumps(told)}}
    at = 0
    for name, numbers in tensors.items():
        end = at + len(numbers.data)
        header[name] = {"dtype": numbers.dtype, "shape": list(numbers.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(numbers.data for numbers in tensors.values())


def _template():
    """The page that is one file: beside this file, or in the npm package."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("HEADLIGHT_PAGE", "")]
    places += [os.path.join(here, *path) for path in (("headlight.html",), ("dist", "headlight.html"))]
    folder = os.getcwd()
    while True:
        places.append(os.path.join(folder, "node_modules", "headlight-attention", "dist", "headlight.html"))
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    for place in places:
        if place and os.path.isfile(place):
            with open(place, encoding="utf-8") as file:
                return file.read()
    raise FileNotFoundError(
        "headlight.html lies neither beside headlight.py nor in node_modules/headlight-attention/dist: "
        "copy it from dist/ of the npm package, or set HEADLIGHT_PAGE to where it is"
    )


def page(
    attentions=None,
    tokens=None,
    *,
    keys=None,
    q=None,
    k=None,
    v=None,
    causal=None,
    batch=None,
    title=None,
    view="instrument",
    layer=0,
    head=0,
    controls=True,
    theme=None,
    language=None,
    whale=False,
    transpose=False,
    precision=None,
    max_megabytes=MAX_MEGABYTES
):
    """The page that `save` writes, as a text.

    tokens: names of the tokens that look; keys: of those that are looked at, where they are others.
    q, k, v: queries, keys and values (H,T,D) in the place of weights; causal: a token does not look ahead.
    batch: which text, where attentions hold several. title: what is shown is called.
    view: "instrument" (all of it), "head" (one heatmap), "heads" (all of them) or "lines".
    layer, head: what is shown first, from 0. controls: False hides the menu and what can be changed.
    theme: "light" or "dark"; language: "en" or "zh"; else the browser's.
    whale: True keeps the language model of the page in it, 1.6 MB.
    transpose: True where attentions have their keys before their queries.
    precision: "float32", "float16" or "uint8" (each weight within 0.2% of the largest of its row); else as given.
    max_megabytes: a larger page is refused, as browsers may not open it.
    """
    if (attentions is None) == (q is None and k is None and v is None):
        raise TypeError("expected either attentions or q, k and v")
    if title is not None:
        title = _text("title", title)
    if precision not in (None,) + tuple(PRECISIONS):
        raise ValueError("precision is %s, expected one of %s" % (_short(precision), ", ".join(map(repr, PRECISIONS))))
    if attentions is not None:
        tensors = {"attentions": _weights(attentions, batch, transpose, precision)}
        layers, heads, rows, columns = tensors["attentions"].shape
    else:
        for name, value in (("batch", batch is not None), ("transpose", transpose), ("precision", precision)):
            if value:
                raise TypeError("%s belongs to attentions" % name)
        tensors = _heads(q, k, v)
        layers, heads, rows, columns = 1, tensors["q"].shape[0], tensors["q"].shape[1], tensors["k"].shape[1]
    for name, value, known in (
        ("view", view, VIEWS),
        ("theme", theme, (None, "light", "dark")),
        ("language", language, (None, "en", "zh")),
        ("layer", layer, range(layers)),
        ("head", head, range(heads)),
    ):
        if value not in known:
            raise ValueError("%s is %s, expected one of %s" % (name, _short(value), ", ".join(map(repr, known))))
    options = {
        "view": view,
        "layer": int(layer),
        "head": int(head),
        "controls": bool(controls),
        "title": title,
        "theme": theme,
        "language": language,
        "causal": bool(causal) if q is not None else None,
    }
    told = {
        "tokens": _texts("tokens", tokens, rows, batch),
        "keys": _texts("keys", keys, columns, batch),
        "options": {name: value for name, value in options.items() if value is not None},
    }
    text = _template()
    for name in () if whale else WHALE:
        text = re.sub(r'<script type="text/plain" id="%s">[^<]*</script>\n' % re.escape(name), "", text)
    raw = _safetensors(tensors, told)
    given = base64.b64encode(zlib.compress(raw)).decode("ascii")
    block = '<script type="text/plain" id="given">%s</script>\n' % given
    first = '<script type="text/plain" id="page">'
    if first not in text:
        raise ValueError("headlight.html is of another version than headlight.py")
    text = text.replace(first, block + first, 1)
    if title:
        named = "<title>%s</title>" % html.escape(title)
        text = re.sub("<title>[^<]*</title>", lambda _: named, text, count=1)
    _check_size(len(text) / 1e6, (len(text) - len(given)) / 1e6, len(raw), tensors, max_megabytes)
    return text


def _smaller(megabytes, rest, size, tensors, most):
    """How the page becomes smaller than `most`: numbers of a smaller type, or fewer layers.

    rest: megabytes of the page without the numbers; size: bytes of the file of numbers.
    """
    weights = tensors.get("attentions")
    if weights is None:
        return "smaller: fewer heads or tokens"
    numbers = len(weights.data) // weights.size
    # Numbers that cannot be compressed take 4/3 of their bytes in base64, and zlib adds less than 0.1 %.
    least = {name: (size - numbers * (weights.size - SIZES[dtype])) * 1.3347e-6 for name, dtype in PRECISIONS.items()}
    others = [name for name, dtype in PRECISIONS.items() if SIZES[dtype] < weights.size]
    fits = [repr(name) for name in others if megabytes <= most or rest + least[name] < most]
    ways = ["precision=" + " or ".join(fits)] if fits else ["perhaps precision='uint8'"] if others else []
    layers = weights.shape[0]
    count = min(int((most - rest) / (megabytes - rest) * layers), max(layers // 2, 1), layers - 1)
    if count > 0:
        ways.append("fewer layers, as attentions[:%d]" % count)
    return "smaller: %s" % (", or ".join(ways) or "fewer heads or tokens")


def _check_size(megabytes, rest, size, tensors, most):
    if megabytes <= min(LARGE_MEGABYTES, most):
        return
    smaller = _smaller(megabytes, rest, size, tensors, most)
    if megabytes > most:
        raise ValueError(
            "the page would have %.0f MB, more than %g, which browsers may not open; %s; max_megabytes=%.0f allows it"
            % (megabytes, most, smaller, megabytes + 1)
        )
    warnings.warn("the page has %.0f MB; %s" % (megabytes, smaller), stacklevel=4)


def save(path, attentions=None, tokens=None, **options):
    """Writes a page that shows the weights and needs no network. Options as of `page`.

    A page that was there before is replaced when the new one is complete.
    """
    data = page(attentions, tokens, **options).encode("utf-8")
    whole = os.path.realpath(path)
    if os.path.exists(whole) and not os.path.isfile(whole):  # a pipe
        with open(whole, "wb") as file:
            file.write(data)
        return path
    part = "%s.%d.part" % (whole, os.getpid())
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, whole)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return path


def _height(height):
    """A height as a length of CSS; None stays None."""
    if height is None:
        return None
    if isinstance(height, str):
        if re.match(r"^(0|[1-9]\d{0,4})(\.\d{1,4})?(px|em|rem|vh|vw|cm|mm|in|pt)\Z", height):
            return height
    elif not isinstance(height, bool) and hasattr(height, "__index__") and 0 < height.__index__() <= 100000:
        return "%dpx" % height.__index__()
    raise ValueError("height is %s, expected pixels from 1 to 100000, or a text such as '80vh'" % _short(height))


class View:
    """A page that a notebook displays."""

    def __init__(self, text, height):
        self.text = text
        self.height = height

    def _repr_html_(self):
        return '<iframe srcdoc="%s" style="width: 100%%; height: %s; border: 0" title="Headlight"></iframe>' % (
            html.escape(self.text),
            self.height,
        )

    def __repr__(self):
        return "<headlight.View: a notebook displays it; headlight.save(path, …) writes a page>"


def show(attentions=None, tokens=None, *, height=None, **options):
    """Displays the weights in a notebook, in a loop as well. Options as of `page`; height in pixels, or in a unit of
    CSS as a text: "80vh", "30em".

    Where IPython does not run, it returns what other notebooks display as the value of a cell. A single head and the
    matrix of heads are as high as they are, where the notebook lets them be.
    """
    height = _height(height)
    text = page(attentions, tokens, **options)
    usual = "720px" if options.get("view", "instrument") in ("instrument", "lines") else "480px"
    view = View(text, height or usual)
    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        return view
    from IPython.display import display

    display(view)
    return None
