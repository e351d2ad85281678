/** Which files of a folder are dashboards as code. */
import '../../../subjects/query-kinds.ts';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readDashboardFolder } from '../../../commands/dashboards/plan.ts';

/**
 * Writes files as Kubernetes mounts them: the keys are links through `..data` to a folder that is replaced as a whole.
 */
const mountConfigMap = (folder: string, files: Readonly<Record<string, string>>): void => {
  const version = '..2026_11_24_10_00_00.1';
  mkdirSync(join(folder, version), { recursive: true });
  symlinkSync(version, join(folder, '..data'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, version, name), text);
    symlinkSync(join('..data', name), join(folder, name));
  }
};

test('files of mounted ConfigMaps are read once, and named after their keys', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oiq-folder-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mountConfigMap(join(folder, 'shop'), { 'a.yaml': 'id: a\nname: A\n', 'broken.yaml': 'id: b\nname: 1\n' });
  mountConfigMap(join(folder, 'more'), { 'c.json': '{"id":"c","name":"C"}' });
  const { dashboards: accepted, problems } = await readDashboardFolder(folder, 'git:x');
  t.deepEqual(
    accepted.map(({ file, id }) => [file, id]),
    [
      ['more/c.json', 'c'],
      ['shop/a.yaml', 'a'],
    ],
  );
  t.is(problems.length, 1);
  t.true(problems[0]?.startsWith('shop/broken.yaml:2: name: '), problems[0]);
});

test('hidden files and broken links are not read', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oiq-folder-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '.github', 'workflows'), { recursive: true });
  writeFileSync(join(folder, '.github', 'workflows', 'ci.yaml'), 'jobs: {}');
  // A lock file of an editor.
  symlinkSync('somebody@host.7', join(folder, '.#a.yaml'));
  symlinkSync('nowhere.yaml', join(folder, 'gone.yaml'));
  writeFileSync(join(folder, 'a.yaml'), 'id: a\nname: A');
  const { dashboards: accepted, problems } = await readDashboardFolder(folder, 'git:x');
  t.deepEqual([accepted.map(({ id }) => id), problems], [['a'], ['gone.yaml:1: links to a file that does not exist']]);
});
