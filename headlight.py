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
import zlib

__all__ = ["page", "save", "show"]

VIEWS = ("instrument", "head", "heads", "lines")
#: Weights are shares of 1; those of half precision are a little more.
MOST = 1.02
MOST_TOKENS = 4096
#: Blocks of the page that weights have no use for.
WHALE = ("whale.safetensors", "whale.tokenizer.json")


class _Numbers:
    """Numbers in row-major order: bytes, little end first, with a shape and the name of their type."""

    def __init__(self, data, shape, dtype, wrong=None):
        self.data = data
        self.wrong = wrong  # the first that is no weight
        self.shape = tuple(int(n) for n in shape)
        self.dtype = dtype
        self.size = 2 if dtype == "F16" else 4

    def part(self, index, shape):
        """What has this shape and begins at so many of its length."""
        length = self.size
        for n in shape:
            length *= n
        return _Numbers(self.data[index * length : (index + 1) * length], shape, self.dtype)

    def as_single(self):
        """The bytes as float32."""
        if self.dtype == "F32":
            return self.data
        return b"".join(struct.pack("<f", x) for (x,) in struct.iter_unpack("<e", self.data))


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
        try:
            import numpy
        except ImportError:
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


def _walk(name, value, flat):
    """Appends the numbers of nested lists, and returns their shape."""
    if not isinstance(value, (list, tuple)):
        try:
            flat.append(value)
        except TypeError:
            raise TypeError("%s is %r, expected a number" % (name, value)) from None
        return ()
    shapes = [_walk("%s[%d]" % (name, i), item, flat) for i, item in enumerate(value)]
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
    if max(tokens, keys) > MOST_TOKENS:
        raise ValueError("%s has shape %s, expected at most %d tokens" % (name, shape, MOST_TOKENS))
    batches = shape[-4] if len(shape) == (4 if one else 5) else 1
    if batches > 1 and batch is None:
        raise ValueError("%s has a batch of %d texts: batch says which, from 0" % (name, batches))
    if batch is not None and not 0 <= batch < batches:
        raise ValueError("batch is %r, expected an integer from 0 to %d" % (batch, batches - 1))
    count = 1 if one or len(shape) < 4 else shape[0]
    return [numbers.part(i * batches + (batch or 0), (heads, tokens, keys)) for i in range(count)]


def _weights(attentions, batch):
    """Weights in any form as (L,H,T,S)."""
    name = "attentions"
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
    dtype = "F16" if all(layer.dtype == "F16" for layer in layers) else "F32"
    data = b"".join(layer.data if dtype == "F16" else layer.as_single() for layer in layers)
    return _Numbers(data, (len(layers),) + first.shape, dtype)


def _texts(name, texts, count):
    if texts is None:
        return None
    if isinstance(texts, str):
        raise TypeError("%s is a text, expected a list of %d" % (name, count))
    found = [str(text) for text in texts]
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
    whale=False
):
    """The page that `save` writes, as a text.

    tokens: names of the tokens that look; keys: of those that are looked at, where they are others.
    q, k, v: queries, keys and values (H,T,D) in the place of weights; causal: a token does not look ahead.
    batch: which text, where attentions hold several. title: what is shown is called.
    view: "instrument" (all of it), "head" (one heatmap), "heads" (all of them) or "lines".
    layer, head: what is shown first, from 0. controls: False hides the menu and what can be changed.
    theme: "light" or "dark"; language: "en" or "zh"; else the browser's.
    whale: True keeps the language model of the page in it, 1.6 MB.
    """
    if (attentions is None) == (q is None):
        raise TypeError("expected either attentions or q, k and v")
    if attentions is not None:
        tensors = {"attentions": _weights(attentions, batch)}
        layers, heads, rows, columns = tensors["attentions"].shape
    else:
        if batch is not None:
            raise TypeError("batch belongs to attentions")
        tensors = {name: _numbers(name, value) for name, value in (("q", q), ("k", k), ("v", v))}
        for name, numbers in tensors.items():
            if not 2 <= len(numbers.shape) <= 4 or 0 in numbers.shape:
                raise ValueError("%s has shape %s, expected (T,D), (H,T,D) or (1,H,T,D)" % (name, numbers.shape))
        layers, heads = 1, ((1,) + tensors["q"].shape)[-3]
        rows, columns = tensors["q"].shape[-2], tensors["k"].shape[-2]
    for name, value, known in (
        ("view", view, VIEWS),
        ("theme", theme, (None, "light", "dark")),
        ("language", language, (None, "en", "zh")),
        ("layer", layer, range(layers)),
        ("head", head, range(heads)),
    ):
        if value not in known:
            raise ValueError("%s is %r, expected one of %s" % (name, value, ", ".join(map(repr, known))))
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
        "tokens": _texts("tokens", tokens, rows),
        "keys": _texts("keys", keys, columns),
        "options": {name: value for name, value in options.items() if value is not None},
    }
    text = _template()
    for name in () if whale else WHALE:
        text = re.sub(r'<script type="text/plain" id="%s">[^<]*</script>\n' % re.escape(name), "", text)
    given = base64.b64encode(zlib.compress(_safetensors(tensors, told))).decode("ascii")
    block = '<script type="text/plain" id="given">%s</script>\n' % given
    first = '<script type="text/plain" id="page">'
    if first not in text:
        raise ValueError("headlight.html is of another version than headlight.py")
    text = text.replace(first, block + first, 1)
    if title:
        named = "<title>%s</title>" % html.escape(title)
        text = re.sub("<title>[^<]*</title>", lambda _: named, text, count=1)
    return text


def save(path, attentions=None, tokens=None, **options):
    """Writes a page that shows the weights and needs no network. Options as of `page`."""
    text = page(attentions, tokens, **options)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return path


class View:
    """What a notebook displays."""

    def __init__(self, text, height):
        self.text = text
        self.height = height

    def _repr_html_(self):
        return '<iframe srcdoc="%s" style="width: 100%%; height: %dpx; border: 0" title="Headlight"></iframe>' % (
            html.escape(self.text),
            self.height,
        )

    def __repr__(self):
        return "<headlight.View: a notebook displays it; headlight.save(path, …) writes a page>"


def show(attentions=None, tokens=None, *, height=None, **options):
    """What a notebook displays as the last value of a cell, or by `display(…)`. Options as of `page`; height in pixels.

    A single head and the matrix of heads are as high as they are, where the notebook lets them be.
    """
    text = page(attentions, tokens, **options)
    return View(text, height or (720 if options.get("view", "instrument") in ("instrument", "lines") else 480))
