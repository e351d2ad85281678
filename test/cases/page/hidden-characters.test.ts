/** Which characters in texts from senders are displayed as code points. */
import test from 'ava';
import { markHiddenCharacters } from '../../../web/frame/hidden-characters.ts';

const texts: readonly (readonly [title: string, text: string, marked: string])[] = [
  ['a reversed name', '\u202Eevil\u202C.exe', 'U+202Eevil U+202C.exe'.replace(' ', '')],
  ['an escape', 'a\u001B[31mb', 'aU+001B[31mb'],
  ['a zero-width space', 'pay\u200Bments', 'payU+200Bments'],
  ['a variation selector after a letter', 'a\uFE0Fb', 'aU+FE0Fb'],
  ['a joiner between letters', 'a\u200Db', 'aU+200Db'],
  ['a joiner at the end', '👩\u200D', '👩U+200D'],
];
for (const [title, text, marked] of texts)
  test(`${title} is marked`, (t) => {
    t.is(markHiddenCharacters(text), marked);
  });

for (const text of ['⚠️ disk almost full ❤️ ✔️', '👩‍💻 deployed', '🏳️‍🌈', '👍🏽', '1️⃣ first', 'plain text'])
  test(`“${text}” is displayed as it is`, (t) => {
    t.is(markHiddenCharacters(text), text);
  });
