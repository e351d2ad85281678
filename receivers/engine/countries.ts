/** Looks up the country of an address in a table of the operator. */
import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { Reader, type Response } from 'mmdb-lib';
import { type Fields, toFields } from '../../runtime/fields.ts';
import { SettingsError } from '../../schemas/settings.ts';

/** Returns the ISO 3166-1 code of the country of an address; an empty string if it is unknown. */
export type FindCountry = (address: string) => string;

const countryPattern = /^[A-Z]{2}$/;
const addressLength = 16;
const ipv4Prefix = Buffer.from('00000000000000000000ffff', 'hex');

const toBytes = (address: ipaddr.IPv4 | ipaddr.IPv6): Buffer =>
  address instanceof ipaddr.IPv6
    ? Buffer.from(address.toByteArray())
    : Buffer.concat([ipv4Prefix, Buffer.from(address.toByteArray())]);

/** Returns the first and the last address of a network in CIDR notation. */
const readNetwork = (text: string): readonly [Buffer, Buffer] => {
  const [address, bits] = ipaddr.parseCIDR(text);
  const first = toBytes(address);
  const prefix = address.kind() === 'ipv4' ? bits + 96 : bits;
  const last = Buffer.from(first);
  for (let bit = prefix; bit < addressLength * 8; bit++) {
    const mask = 0x80 >> (bit & 7);
    first[bit >> 3] = (first[bit >> 3] as number) & ~mask;
    last[bit >> 3] = (last[bit >> 3] as number) | mask;
  }
  return [first, last];
};

interface AddressRange {
  readonly first: Buffer;
  readonly last: Buffer;
  readonly country: string;
}

const readLine = (line: string): AddressRange => {
  const fields = line.split(',').map((field) => field.trim().replaceAll('"', ''));
  const country = fields.at(-1) ?? '';
  const [start = '', end = ''] = fields;
  const [first, last] =
    fields.length === 2 ? readNetwork(start) : [toBytes(ipaddr.parse(start)), toBytes(ipaddr.parse(end))];
  if (fields.length > 3 || !countryPattern.test(country)) throw new Error('there is no country of two letters');
  return { first, last, country };
};

const parseTable = (text: string, path: string): AddressRange[] =>
  text.split(/\r?\n/).flatMap((line, index) => {
    if (line === '') return [];
    try {
      return [readLine(line)];
    } catch (error) {
      // The names of the columns
      if (index === 0 && !/\d/.test(line)) return [];
      throw new SettingsError([
        `OIQ_COUNTRY_FILE: ${path}, line ${index + 1} is neither "first address,last address,country" nor "network,country": ${(error as Error).message}`,
      ]);
    }
  });

const createTableSearch = (ranges: readonly AddressRange[]): FindCountry => {
  const sorted = ranges.toSorted((left, right) => left.first.compare(right.first));
  return (address) => {
    if (!ipaddr.isValid(address)) return '';
    const bytes = toBytes(ipaddr.process(address));
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as AddressRange).first.compare(bytes) <= 0) low = middle + 1;
      else high = middle;
    }
    const range = sorted[low - 1];
    return range !== undefined && range.last.compare(bytes) >= 0 ? range.country : '';
  };
};

/** Returns the country of a record in the formats of MaxMind, DB-IP and IPinfo. */
const readCountry = (record: Fields): string => {
  const { country, country_code: code, registered_country: registered } = record;
  const texts = [toFields(country)['iso_code'], code, country, toFields(registered)['iso_code']];
  return texts.find((text): text is string => typeof text === 'string' && countryPattern.test(text)) ?? '';
};

const createDatabaseSearch = (content: Buffer, path: string): FindCountry => {
  let reader: Reader<Response>;
  try {
    reader = new Reader(content);
  } catch (error) {
    throw new SettingsError([`OIQ_COUNTRY_FILE: ${path} is not an MMDB database: ${(error as Error).message}`]);
  }
  return (address) =>
    ipaddr.isValid(address) ? readCountry(toFields(reader.get(ipaddr.process(address).toString()))) : '';
};

/**
 * Opens a table of countries, which is read completely: an MMDB database, or CSV with lines of a first address, a last
 * address and a country, or of a network and a country. Without a file, every country is unknown.
 */
export const openCountries = async (path: string | undefined): Promise<FindCountry> => {
  if (path === undefined) return () => '';
  const content = await readFile(path).catch((error: Error) => {
    throw new SettingsError([`OIQ_COUNTRY_FILE: the file cannot be read: ${error.message}`]);
  });
  return path.endsWith('.mmdb')
    ? createDatabaseSearch(content, path)
    : createTableSearch(parseTable(content.toString('utf8'), path));
};
