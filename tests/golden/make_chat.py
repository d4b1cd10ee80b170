# Makes chat/cases.json: conversations, and the texts that Jinja makes of them with the templates in chat/. The
# templates have the behaviour of those of well-known models. Also renders the short templates of chat/constructs.json
# again, which has one list for each construct of Jinja: the template and its text, or null if Jinja refuses it. Needs
# python3-jinja2.

import copy
import datetime
import json
import pathlib

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).parent / 'chat'
NOW = datetime.datetime(2026, 3, 5, 9, 7, 2)


class Generation(Extension):
    """The statement that marks the answers of the model."""

    tags = {'generation'}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(['name:endgeneration'], drop_needle=True)
        return nodes.Scope(body, lineno=line)


def refuse(reason):
    raise TemplateError(reason)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


environment = ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, 'jinja2.ext.loopcontrols']
)
environment.filters['tojson'] = to_json
environment.globals['raise_exception'] = refuse
environment.globals['strftime_now'] = NOW.strftime

TOOL = {
    'type': 'function',
    'function': {
        'name': 'depth',
        'description': 'The depth of the sea in “fathoms”',
        'parameters': {
            'type': 'object',
            'properties': {'place': {'type': 'string'}, 'precise': {'type': 'boolean', 'default': False}},
            'required': ['place'],
        },
    },
}
TIDE = {
    'type': 'function',
    'function': {'name': 'tide', 'parameters': {'type': 'object', 'properties': {}}},
}
CALL = {
    'role': 'assistant',
    'content': '',
    'tool_calls': [{
        'id': 'abcdefgh1',
        'type': 'function',
        'function': {'name': 'depth', 'arguments': {'place': 'Nantucket — é', 'precise': True, 'n': [1, None]}},
    }],
}
ANSWER = {'role': 'tool', 'tool_call_id': 'abcdefgh1', 'name': 'depth', 'content': '{"fathoms": 12}'}
system = {'role': 'system', 'content': 'You are a mate.\nBe brief. /no_think'}
user = {'role': 'user', 'content': ' Where is the whale?\n'}
mate = {'role': 'assistant', 'content': '<think>\nIt blew.\n</think>\n\nTo leeward, sir. '}
more = {'role': 'user', 'content': "It's 'far'. \"How\" deep?"}

CONVERSATIONS = {
    'question': {'messages': [user]},
    'answered': {'messages': [user, mate]},
    'system': {'messages': [system, user]},
    'long': {'messages': [system, user, mate, more]},
    'system twice': {'messages': [system, user, mate, more, mate, user]},
    'without an answer': {'messages': [user, mate, more], 'add_generation_prompt': False},
    'two questions': {'messages': [user, more]},
    'tools': {'messages': [system, user], 'tools': [TOOL, TIDE]},
    'a call': {'messages': [user, CALL, ANSWER], 'tools': [TOOL]},
    'after a call': {'messages': [user, CALL, ANSWER, mate, more], 'tools': [TOOL, TIDE]},
    'no thinking': {'messages': [user], 'enable_thinking': False},
    'thinking': {'messages': [user, mate, more], 'enable_thinking': True},
    'parts': {'messages': [{'role': 'user', 'content': [
        {'type': 'image'}, {'type': 'text', 'text': ' What is this? '}]}]},
    'no content': {'messages': [user, {'role': 'assistant', 'content': None}]},
}
SPECIALS = {'bos_token': '<s>', 'eos_token': '</s>', 'unk_token': '<unk>'}

cases = []
for path in sorted(FOLDER.glob('*.jinja')):
    template = environment.from_string(path.read_text())
    for name, given in CONVERSATIONS.items():
        prompt = given.get('add_generation_prompt', given['messages'][-1]['role'] != 'assistant')
        values = {'tools': None, 'documents': None, **SPECIALS, **given, 'add_generation_prompt': prompt}
        try:
            expected = {'text': template.render(**values)}
        except Exception as error:
            refused = type(error) is TemplateError
            expected = {'refuses': str(error)} if refused else {'fails': type(error).__name__}
        cases.append({'template': path.name, 'conversation': name, **expected})

written = {'now': '2026-03-05T09:07:02', 'specials': SPECIALS, 'conversations': CONVERSATIONS, 'cases': cases}
(FOLDER / 'cases.json').write_text(json.dumps(written, ensure_ascii=False, indent=1) + '\n')
kinds = [next(kind for kind in ('text', 'refuses', 'fails') if kind in case) for case in cases]
print({kind: kinds.count(kind) for kind in set(kinds)})

constructs = json.loads((FOLDER / 'constructs.json').read_text())
lines = []
for template, *_ in constructs['cases']:
    try:
        text = environment.from_string(template).render(**copy.deepcopy(constructs['context']))
    except Exception:
        text = None
    lines.append(json.dumps([template, text], ensure_ascii=False))
context = json.dumps(constructs['context'], ensure_ascii=False)
lists = ',\n'.join(lines)
(FOLDER / 'constructs.json').write_text(f'{{"now": "{NOW.isoformat()}", "context": {context}, "cases": [\n{lists}\n]}}\n')
print({'constructs': len(lines)})
