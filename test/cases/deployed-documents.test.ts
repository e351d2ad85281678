/** Documents parsed from the texts of rules, and cached. */
import test from 'ava';
import { parseDocument, parseDocuments } from '../../subjects/detections/deployment.ts';

const reader = { tenantId: 'acme' };
const ruleOf = (name: string, more = ''): string =>
  `title: ${name}\nname: ${name}\nlogsource: { product: linux }\ndetection: { a: { b: c }, condition: a }\n${more}`;

test('each text gives its document or its error, in the order of the texts', async (t) => {
  const long = ruleOf('long', `# ${'a '.repeat(20_000)}\n`);
  const texts = [ruleOf('one'), 'title: [', long, ruleOf('one'), '# nothing'];
  const found = await parseDocuments(reader, texts);
  t.deepEqual(
    found.map((document) => (typeof document === 'string' ? 'wrong' : document.name)),
    ['one', 'wrong', 'long', 'one', 'wrong'],
  );
  t.is(found[4], 'the text contains no document');
  t.is(found[0], found[3], 'the same text is read once');
  t.true(parseDocument(long) === found[2], 'and for threads too');
});

test('texts that were parsed before are not parsed again, even if the cache is evicted meanwhile', async (t) => {
  const source = ruleOf('kept');
  const [before] = await parseDocuments(reader, [source]);
  // More than the cache retains.
  const others = Array.from({ length: 70 }, (_, at) => `# ${at}${' '.repeat(1024 * 1024)}`);
  const [after] = await parseDocuments(reader, [source, ...others]);
  t.is(after, before);
});
