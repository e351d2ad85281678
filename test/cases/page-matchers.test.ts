/** Matchers as users type them into the page, and the text that displays them. */
import test from 'ava';
import { formatMatchers, parseMatchers } from '../../web/areas/alerts/alert-format.ts';

for (const [written, ...matchers] of [
  ['team=shop', ['team', '=', 'shop']],
  ['team = shop , severity!=info', ['team', '=', 'shop'], ['severity', '!=', 'info']],
  ['service=~"ca.*"', ['service', '=~', 'ca.*']],
  ['path!~^/a=b', ['path', '!~', '^/a=b']],
  ['summary="a \\"word\\""', ['summary', '=', 'a "word"']],
  ['a="x,y"', ['a', '=', 'x,y']],
  ['{a="x,y", b=~"p{1,3}", c!="\\\\,"}', ['a', '=', 'x,y'], ['b', '=~', 'p{1,3}'], ['c', '!=', '\\,']],
  ['a="x\ny"\nb=z', ['a', '=', 'x\ny'], ['b', '=', 'z']],
  ['a="x\\ny"', ['a', '=', 'x\ny']],
  ['a=" x "', ['a', '=', ' x ']],
  ['path=~"C:\\\\d.*"', ['path', '=~', 'C:\\d.*']],
  ['a="x,y', ['a', '=', '"x,y']],
  ['team=', ['team', '=', '']],
  ['team', ['team', '=', '']],
  [' , '],
] as const)
  test(`“${written}” are ${matchers.length} matchers`, (t) => {
    const found = parseMatchers(written);
    t.deepEqual(
      found.map(({ name, operator, value }) => [name, operator, value]),
      matchers.map((matcher) => [...matcher]),
    );
    t.deepEqual(parseMatchers(formatMatchers({ matchers: found })), found);
  });
