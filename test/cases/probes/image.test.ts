/** The image of probes: what is installed in it, and what its process 1 is. */
import { readFileSync } from 'node:fs';
import test from 'ava';

const dockerfile = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8').replaceAll(/\\\n\s*/g, '');
const [, probe = ''] = /^FROM runtime AS probe\n(.*?)^FROM /ms.exec(dockerfile) ?? [];

test('process 1 of a probe waits for what browsers leave to it, and hands signals on to the probe', (t) => {
  const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(probe) ?? [];
  t.deepEqual((JSON.parse(entry) as string[]).slice(0, 3), ['tini', '--', 'node']);
});

test('what checks run is installed by the names of packages that have it', (t) => {
  const [, packages = ''] = /apt-get install -y --no-install-recommends ([^&]*)/.exec(probe) ?? [];
  // Debian's packages put the programs of these names, and `ping`, into /usr/bin.
  t.deepEqual(packages.trim().split(' '), ['iputils-ping', 'chromium-headless-shell', 'tini']);
  t.regex(
    readFileSync(new URL('../../../probes/browser/program.ts', import.meta.url), 'utf8'),
    /'chromium-headless-shell', /,
  );
});
