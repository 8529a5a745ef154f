#!/usr/bin/env python3
"""Writes cases.json: templates in the style of those that models carry, and what Jinja 2 makes of them when it is set up as
transformers does. Needs the package jinja2."""

import json
import pathlib

import jinja2
import jinja2.ext
import jinja2.sandbox

TALK = [{"role": "user", "content": "Hello\nthere"}, {"role": "assistant", "content": "Hi! <b>\"x\"</b>"}, {"role": "user", "content": "  Bye  "}]
SYSTEM = [{"role": "system", "content": "Be brief."}, *TALK]
TOOLS = [{"type": "function", "function": {"name": "add", "description": "Adds: é", "parameters": {"a": 1.5, "b": [1, None, True], "c": {}}}}]
CALL = [*TALK[:1], {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1, "b": "x"}}}]},
        {"role": "tool", "content": "3"}, {"role": "tool", "content": "4"}]

# styles of well-known families, written for these tests
TEMPLATES = {
    "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
              "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "default system": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system = messages[0]['content'] %}"
                      "{% else %}{% set loop_messages = messages %}{% set system = 'none given' %}{% endif %}[{{ system }}]"
                      "{% for m in loop_messages %}{% if loop.first %}<first>{% endif %}{{ m.role }}: {{ m.content | trim }}{{ '\\n' if not loop.last else '' }}{% endfor %}",
    "alternating": "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
                   "{{ raise_exception('roles must alternate') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'].strip() + ' [/INST]' }}"
                   "{% elif message['role'] == 'assistant' %}{{ ' ' + message['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
    "turns": "{{ bos_token }}\n{%- if messages[0]['role'] == 'system' -%}\n    {%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}\n"
             "    {%- set loop_messages = messages[1:] -%}\n{%- else -%}\n    {%- set first_user_prefix = \"\" -%}\n    {%- set loop_messages = messages -%}\n{%- endif -%}\n"
             "{%- for message in loop_messages -%}\n    {%- if (message['role'] == 'assistant') -%}\n        {%- set role = \"model\" -%}\n    {%- else -%}\n"
             "        {%- set role = message['role'] -%}\n    {%- endif -%}\n    {{ '<start_of_turn>' + role + '\n' + (first_user_prefix if loop.first else \"\") }}\n"
             "    {%- if message['content'] is string -%}\n        {{ message['content'] | trim }}\n    {%- elif message['content'] is iterable -%}\n        {%- for item in message['content'] -%}\n"
             "            {%- if item['type'] == 'text' -%}\n                {{ item['text'] | trim }}\n            {%- endif -%}\n        {%- endfor -%}\n    {%- else -%}\n"
             "        {{ raise_exception(\"Invalid content type\") }}\n    {%- endif -%}\n    {{ '<end_of_turn>\n' }}\n{%- endfor -%}\n"
             "{%- if add_generation_prompt -%}\n    {{'<start_of_turn>model\n'}}\n{%- endif -%}\n",
    "tools": "{%- if tools %}\n    {{- '<|im_start|>system\\n' }}\n    {%- if messages[0].role == 'system' %}\n        {{- messages[0].content + '\\n\\n' }}\n    {%- endif %}\n"
             "    {{- \"# Tools\" }}\n    {%- for tool in tools %}\n        {{- \"\\n\" }}\n        {{- tool | tojson }}\n    {%- endfor %}\n    {{- \"\\n<|im_end|>\\n\" }}\n{%- endif %}\n"
             "{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}\n{%- for message in messages[::-1] %}\n"
             "    {%- set index = (messages|length - 1) - loop.index0 %}\n    {%- if ns.multi_step_tool and message.role == \"user\" and message.content is string and not(message.content.startswith('<tool>') and message.content.endswith('</tool>')) %}\n"
             "        {%- set ns.multi_step_tool = false %}\n        {%- set ns.last_query_index = index %}\n    {%- endif %}\n{%- endfor %}\n"
             "{%- for message in messages %}\n    {%- if message.content is string %}\n        {%- set content = message.content %}\n    {%- else %}\n        {%- set content = '' %}\n    {%- endif %}\n"
             "    {%- if (message.role == \"user\") or (message.role == \"system\" and not loop.first) %}\n        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}\n"
             "    {%- elif message.role == \"assistant\" %}\n        {%- if loop.index0 > ns.last_query_index %}{{- '<think>' }}{%- endif %}\n        {{- '<|im_start|>' + message.role + '\\n' + content }}\n"
             "        {%- if message.tool_calls %}\n            {%- for tool_call in message.tool_calls %}\n                {%- if tool_call.function %}\n                    {%- set tool_call = tool_call.function %}\n                {%- endif %}\n"
             "                {{- '<tool_call>{\"name\": \"' }}{{- tool_call.name }}{{- '\", \"arguments\": ' }}\n                {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}\n"
             "                {{- '}' }}\n            {%- endfor %}\n        {%- endif %}\n        {{- '<|im_end|>\\n' }}\n    {%- elif message.role == \"tool\" %}\n"
             "        {%- if loop.first or (messages[loop.index0 - 1].role != \"tool\") %}\n            {{- '<|im_start|>user' }}\n        {%- endif %}\n        {{- '\\n<tool_response>\\n' }}\n        {{- content }}\n"
             "        {%- if loop.last or (messages[loop.index0 + 1].role != \"tool\") %}\n            {{- '<|im_end|>\\n' }}\n        {%- endif %}\n    {%- endif %}\n{%- endfor %}\n"
             "{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n    {%- if enable_thinking is defined and enable_thinking is false %}\n        {{- '<think>\\n\\n</think>\\n\\n' }}\n    {%- endif %}\n{%- endif %}",
    "macro": "{%- macro show(role, text, end='|') -%}\n  <{{ role }}>{{ text }}{{ end }}\n{%- endmacro -%}\n{% for m in messages %}\n{{ show(m.role, m.content) }}\n{{ show('x', text=m.content|upper, end='!') }}\n{% endfor %}",
    "header": "{{- bos_token }}\n{%- if not date_string is defined %}\n    {%- set date_string = \"26 Jul 2024\" %}\n{%- endif %}\n{%- if messages[0]['role'] == 'system' %}\n    {%- set system_message = messages[0]['content']|trim %}\n    {%- set messages = messages[1:] %}\n"
              "{%- else %}\n    {%- set system_message = \"\" %}\n{%- endif %}\n{{- \"<|start_header_id|>system<|end_header_id|>\\n\\n\" }}\n{%- if tools is not none and tools is defined %}\n    {{- \"Environment: ipython\\n\" }}\n{%- endif %}\n{{- \"Today Date: \" + date_string + \"\\n\\n\" }}\n{{- system_message }}\n{{- \"<|eot_id|>\" }}\n"
              "{%- for message in messages %}\n    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}\n        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}\n    {%- elif 'tool_calls' in message %}\n"
              "        {%- if not message.tool_calls|length == 1 %}\n            {{- raise_exception(\"one call\") }}\n        {%- endif %}\n        {%- set tool_call = message.tool_calls[0].function %}\n        {{- tool_call.name + \" \" }}{% for k, v in tool_call.arguments | items %}{{ k }}={{ v }}{% if not loop.last %}, {% endif %}{% endfor %}\n    {%- endif %}\n{%- endfor %}\n{%- if add_generation_prompt %}\n    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}\n{%- endif %}\n",
    "lines": "{% for m in messages %}\n  {% if m.role == 'user' %}\n    user\n  {% else %}\n    other {# a comment #} here\n  {% endif %}\n  {# alone #}\nend {{ m.role }}\n{% endfor %}\nlast\n",
    "plus": "a\n  {%+ if true %}\n b\n  {%+ endif %}\nc {%- if true -%}   d   {%- endif %}\n  e\n",
    "generation": "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}|{% endif %}{% endfor %}",
    "set block": "{% set x %}\n<{{ messages[0].role }}>\n{% endset %}{{ x }}{{ x|length }}",
    "breaks": "{% for m in messages %}{% if m.role == 'assistant' %}{% continue %}{% endif %}{{ m.role }}{% if loop.index == 3 %}{% break %}{% endif %},{% endfor %}",
    "think": "{% for m in messages %}{% if m.role == 'assistant' and '</b>' in m.content %}{{ m.content.split('</b>')[-1].lstrip('\\n') }}{{ m.content.split('<b>')[0].rstrip() }}{% endif %}{% endfor %}",
    "escapes": r"""{{ "a\
b\
\
 c \x41\u00e9\U0001F642\101\7z\q\'\"\\ " }}""",
    "refuses": "{{ raise_exception('no such role: ' + messages[0].role) }}",
}

# expressions, each printed
EXPRESSIONS = """1 + 2 * 3 - 4 // 3 % 2|7 / 2|8 / 2|-7 // 2|-7 % 3|1 < 2 and 2 <= 2 and not 3 > 4|'a' ~ 1 ~ none ~ true|1.5 + 1
'abc'[1]|'abc'[-1]|'abc'[1:]|'abcdef'[::2]|'abc'[::-1]|[1, 2, 3][-2:]|[1, 2, 3][::-1]|{'a': 1, 'b': [1, 'x']}|{'a': 1}.a|{'a': 1}['b'] is defined|[]
'x' if false else 'y'|'x' if false|none|true|'' or 'b'|'a' and 'b'|not ''|0 or none|none is none|x is defined|x is not defined|messages is sequence
'a' in 'abc'|'a' not in ['a']|'role' in messages[0]|1 in [1.0]|'Ab c'.lower()|'ab c'.upper()|'ab c-d'.title()|'AB'.capitalize()|' a '.strip() + '|'|'xxaxx'.strip('x')|'a,b,,c'.split(',')|' a  b '.split()
'a,b,c'.split(',', 1)|'a,b,c'.rsplit(',', 1)|'abc'.startswith('ab')|'abc'.startswith(('x', 'a'))|'abc'.endswith('bc')|'aXbX'.replace('X', '--')|'-'.join(['a', 'b'])|'abcabc'.count('bc')|'abc'.find('c')
messages|length|messages|first|messages|last|messages|map(attribute='role')|list|messages|selectattr('role', 'equalto', 'user')|list|length|messages|rejectattr('role', 'eq', 'user')|map(attribute='content')|join('+')
[3, 1, 2]|sort|[1, 1, 2]|unique|list|[1, 2]|join|['a', 'b']|join(', ')|'abc'|list|'<a>'|safe|'  x '|trim|'x'|default('d')|y|default('d')|''|default('d', true)|3.7|int|'12'|int + 1|'1.5'|float|5|string + 'x'
{'a': 1, 'b': {'c': 'é"\\n'}}|tojson|[1, 2.5, none, false]|tojson|{'a': [1, {'b': 2}], 'c': {}, 'd': []}|tojson(indent=2)|'x'|tojson|{'b': 1}.keys()|list|{'b': 1}.values()|list|{'b': 1}.get('z', 'no')
range(3)|list|range(2, 10, 3)|list|range(3, 0, -1)|list|3 is odd|4 is even|3 is divisibleby 3|3 is number|'a' is string|[1] is iterable|{} is mapping|true is boolean|none is string|'abc'|upper|lower|title|'a\\nb'|indent(2)
messages[0].content.split('\\n')[0]|messages[5] is defined|messages[0].nothing is defined|'%s'|'a' < 'b'|[1] == [1]|{'a': 1} == {'a': 1}|[1, 2] + [3]|('a' ~ 'b')|length|1 == 1.0|true == 1|'a' == 1|dict(a=1)|namespace(a=1).a
'Hällo'|length|'Hällo'[1]|'日本'[::-1]|['é']|'a' if x else ('b' if y is defined else 'c')|(messages|length > 2) and 'many'|'a b'|replace(' ', '_')|[1, 2, 3]|reverse|list|[0, 1, '', 'a']|select|list|['a', 'b']|map('upper')|join""".split("\n")


def expressions():
    """Split at the bars between them: those outside of quotes that no filter name follows."""
    filters = {"length", "first", "last", "map", "list", "selectattr", "rejectattr", "join", "sort", "unique", "safe", "trim", "default", "int", "float",
               "string", "tojson", "upper", "lower", "title", "indent", "replace", "reverse", "select"}
    for line in EXPRESSIONS:
        parts = line.split("|")
        now = parts[0]
        for part in parts[1:]:
            name = part.split("(")[0].split(" ")[0].strip()
            if name in filters or now.count("'") % 2:
                now += "|" + part
            else:
                yield now
                now = part
        yield now


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])
    made.filters["tojson"] = lambda x, ensure_ascii=False, indent=None: json.dumps(x, ensure_ascii=ensure_ascii, indent=indent)
    made.globals["raise_exception"] = refuse
    return made


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


class Refused(Exception):
    pass


def refuse(words):
    raise Refused(words)


def main():
    cases, made = [], environment()
    talks = {"talk": {"messages": TALK}, "system": {"messages": SYSTEM}, "tools": {"messages": SYSTEM, "tools": TOOLS},
             "calls": {"messages": CALL, "tools": TOOLS}, "more": {"messages": TALK, "add_generation_prompt": True, "enable_thinking": False},
             "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": " a "}, {"type": "text", "text": "b"}]}]}}
    for name, template in TEMPLATES.items():
        for talk, variables in talks.items():
            given = {"add_generation_prompt": talk == "system", "bos_token": "<s>", "eos_token": "</s>", **variables}
            case = {"name": f"{name}, {talk}", "template": template, "variables": given}
            try:
                case["text"] = made.from_string(template).render(**given)
            except Refused as error:
                case["refused"] = str(error)
            except (jinja2.TemplateError, TypeError):
                continue  # these templates do not fit these messages
            cases.append(case)
    for expression in expressions():
        template = "{{ " + expression + " }}"
        try:
            cases.append({"name": expression, "template": template, "variables": {"messages": TALK}, "text": made.from_string(template).render(messages=TALK)})
        except (jinja2.TemplateError, TypeError) as error:
            print(f"left out: {expression}: {error}")
    path = pathlib.Path(__file__).with_name("cases.json")
    path.write_text(json.dumps(cases, ensure_ascii=False, indent=0) + "\n")
    print(len(cases), "cases")


main()
