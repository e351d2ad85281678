/** Archives of Sigma rules: what is unpacked, and what is rejected before unpacking. */
import test from 'ava';
import { strToU8, zipSync } from 'fflate';
import { extractFiles } from '../../subjects/detections/archive.ts';

const mebibyte = 1024 * 1024;

/** The archive with another size in the headers of its only file. */
const withDeclaredSize = (archive: Uint8Array, size: number): Uint8Array => {
  const changed = Buffer.from(archive);
  changed.writeUInt32LE(size, 22);
  changed.writeUInt32LE(size, changed.indexOf(Buffer.from('PK\x01\x02', 'latin1')) + 24);
  return changed;
};

test('YAML files are unpacked by path, compressed and stored, and other files are ignored', (t) => {
  const archive = zipSync({
    'b/two.yaml': [strToU8('b: ü'), { level: 0 }],
    'a/one.yml': strToU8('a: 1\n'.repeat(10_000)),
    'readme.md': strToU8('text'),
    '__MACOSX/b.yml': strToU8('x'),
  });
  t.deepEqual(extractFiles(archive), [
    { name: 'a/one.yml', source: 'a: 1\n'.repeat(10_000) },
    { name: 'b/two.yaml', source: 'b: ü' },
  ]);
  t.deepEqual(extractFiles(zipSync({})), []);
});

test('a file larger than its header states is rejected as soon as it exceeds that size', (t) => {
  const archive = withDeclaredSize(zipSync({ 'a.yml': new Uint8Array(60 * mebibyte) }), 10);
  t.throws(() => extractFiles(archive), { message: 'a.yml is larger than the archive declares' });
});

test('an archive that unpacks to more than the limit is rejected, whatever its headers state', (t) => {
  const archive = zipSync({ 'a.yml': new Uint8Array(65 * mebibyte) });
  const message = 'the archive decompresses to more than 67108864 bytes';
  t.throws(() => extractFiles(archive), { message });
  t.throws(() => extractFiles(withDeclaredSize(archive, 4_000_000_000)), { message });
});

test('an invalid or truncated archive is rejected', (t) => {
  t.throws(() => extractFiles(strToU8('title: x')), { message: /not a (?:valid )?zip archive/ });
  t.throws(() => extractFiles(new Uint8Array()), { message: /not a (?:valid )?zip archive/ });
  const archive = zipSync({ 'a.yml': strToU8('a: 1\n'.repeat(10_000)) });
  t.throws(() => extractFiles(archive.subarray(0, 60)), { message: /not a (?:valid )?zip archive/ });
});
