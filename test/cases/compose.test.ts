/** `compose.yaml` runs all roles of a cluster, and the documentation describes how to start them. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse } from 'yaml';
import { roleNames } from '../../commands/start.ts';
import { parseSettings, rejectLocalStores } from '../../schemas/settings.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}
const { services } = parse(read('compose.yaml'), { merge: true }) as { services: Readonly<Record<string, Service>> };

/** The environment without the values that users provide. */
const environmentOf = ({ environment = {} }: Service): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => !value.startsWith('${')));

for (const role of roleNames) {
  test(`compose.yaml runs ${role} on the stores of a cluster`, (t) => {
    const service = Object.values(services).find(({ command }) => command?.[0] === role);
    if (service === undefined) return t.fail(`no service has the command ${role}`);
    const settings = parseSettings(environmentOf(service));
    t.true(settings.CLUSTER);
    t.notThrows(() => rejectLocalStores(settings, { isPart: true }));
  });

  test(`the documentation starts ${role} in a cluster`, (t) => {
    t.regex(read('docs/operate/cluster.md'), new RegExp(`^node bin/oiq\\.mjs ${role}\\b`, 'm'));
  });
}
