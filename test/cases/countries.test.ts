/** Countries of addresses, from a table that the operator provides. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openCountries } from '../../receivers/engine/countries.ts';
import { createCountryDatabase } from './country-database.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-countries-'));
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

const writeTable = (name: string, content: string | Buffer): string => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};

const tables: readonly (readonly [title: string, name: string, content: string | Buffer])[] = [
  [
    'ranges of addresses',
    'ranges.csv',
    'start,end,country\n192.0.2.0,192.0.2.255,DE\n"198.51.100.0","198.51.100.127","FR"\n2001:db8::,2001:db8::ffff,IN\n',
  ],
  ['networks', 'networks.csv', '192.0.2.0/24,DE\r\n198.51.100.0/25,FR\r\n2001:db8::/112,IN\r\n'],
  [
    'an MMDB database',
    'countries.mmdb',
    createCountryDatabase([
      ['192.0.2.0/24', { country: { iso_code: 'DE' } }],
      ['198.51.100.0/25', { country_code: 'FR' }],
      ['2001:db8::/112', { registered_country: { iso_code: 'IN' } }],
    ]),
  ],
];

for (const [title, name, content] of tables)
  test(`countries are found in ${title}`, async (t) => {
    const findCountry = await openCountries(writeTable(name, content));
    const addresses = {
      '192.0.2.0': 'DE',
      '192.0.2.255': 'DE',
      '::ffff:192.0.2.7': 'DE',
      '198.51.100.127': 'FR',
      '198.51.100.128': '',
      '192.0.1.255': '',
      '2001:db8::ffff': 'IN',
      '2001:db8::1:0': '',
      '10.0.0.1': '',
      unknown: '',
      '': '',
    };
    for (const [address, country] of Object.entries(addresses)) t.is(findCountry(address), country, address);
  });

test('without a table every country is unknown', async (t) => {
  const findCountry = await openCountries(undefined);
  t.is(findCountry('192.0.2.7'), '');
});

test('a table that cannot be read names its path, and the line', async (t) => {
  await t.throwsAsync(openCountries(writeTable('broken.csv', '192.0.2.0/24,DE\n192.0.3.0/24,Germany\n')), {
    message: /OIQ_COUNTRY_FILE: .*broken\.csv, line 2 is neither/,
  });
  await t.throwsAsync(openCountries(writeTable('broken.mmdb', 'no database')), {
    message: /broken\.mmdb is not an MMDB/,
  });
  await t.throwsAsync(openCountries(join(directory, 'missing.csv')), { message: /OIQ_COUNTRY_FILE: the file cannot/ });
});
