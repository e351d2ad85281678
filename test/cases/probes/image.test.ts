/** The images: the Node options in each, the programs installed in the image of probes, and its process 1. */
import { readFileSync } from 'node:fs';
import test from 'ava';

const dockerfile = readFileSync(new URL('../../../Dockerfile', import.meta.url), 'utf8').replaceAll(/\\\n\s*/g, '');
const [, probe = ''] = /^FROM runtime AS probe\n(.*?)^FROM /ms.exec(dockerfile) ?? [];

test('process 1 of a probe reaps processes left by browsers, and forwards signals to the probe', (t) => {
  const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(probe) ?? [];
  t.deepEqual((JSON.parse(entry) as string[]).slice(0, 3), ['tini', '--', 'node']);
});

test('the programs that checks run are installed by their package names', (t) => {
  const [, packages = ''] = /apt-get install -y --no-install-recommends ([^&]*)/.exec(probe) ?? [];
  // The Debian packages install these programs, and `ping`, in /usr/bin.
  t.deepEqual(packages.trim().split(' '), ['iputils-ping', 'chromium-headless-shell', 'tini']);
  t.regex(
    readFileSync(new URL('../../../probes/browser/program.ts', import.meta.url), 'utf8'),
    /'chromium-headless-shell',/,
  );
});

test('Node runs in the image with the same options as outside', (t) => {
  const { flags, environment } = JSON.parse(
    readFileSync(new URL('../../../bin/node.json', import.meta.url), 'utf8'),
  ) as { flags: string[]; environment: Record<string, string> };
  const [, runtime = ''] = /^FROM [^\n]* AS runtime\n(.*?)^FROM /ms.exec(dockerfile) ?? [];
  const [, given = ''] = /^ENV (.*)$/m.exec(runtime) ?? [];
  const variables: Record<string, string | undefined> = Object.fromEntries(
    given.split(/\s+/).map((pair) => pair.split('=')),
  );
  for (const [name, value] of Object.entries(environment)) t.is(variables[name], value, name);
  const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(runtime) ?? [];
  t.deepEqual((JSON.parse(entry) as string[]).slice(1, 1 + flags.length), flags);
});
