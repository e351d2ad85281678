/** Whether a data directory has all parts of its installation. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getEmbeddedStores, type Settings, SettingsError } from '../schemas/settings.ts';

interface Part {
  readonly name: string;
  /** What a start without it loses */
  readonly loss: string;
  isExpected(settings: Settings): boolean;
}

/** In the order in which a first start creates them: a part that exists proves that all earlier ones existed. */
const parts: readonly Part[] = [
  {
    name: 'bus/offsets.sqlite',
    loss: 'consumer groups start at the oldest stored record, so that records may land twice',
    isExpected: (settings) => getEmbeddedStores(settings).includes('KAFKA_BROKERS'),
  },
  {
    name: 'columns',
    loss: 'all stored telemetry is lost',
    isExpected: (settings) => getEmbeddedStores(settings).includes('CLICKHOUSE_URL'),
  },
  {
    name: 'documents.sqlite',
    loss: 'accounts, license keys and settings are lost, and every key in use is refused',
    isExpected: (settings) => getEmbeddedStores(settings).includes('MONGODB_URL'),
  },
  {
    name: 'secret-key',
    loss: 'stored secrets cannot be read, and the signatures of the audit log do not match the new key',
    isExpected: ({ SECRET_KEY: key }) => key === undefined,
  },
];

/**
 * Throws if the data directory has parts of an installation but lacks others, unless `OIQ_NEW_INSTALLATION` permits it.
 * Only looks at names, so that it can run before any store is opened.
 */
export const requireCompleteDirectory = (settings: Settings): void => {
  if (settings.NEW_INSTALLATION) return;
  const directory = settings.DATA_DIR;
  const expectedParts = parts.filter((part) => part.isExpected(settings));
  const isPresent = ({ name }: Part): boolean => existsSync(join(directory, name));
  const lastPresent = expectedParts.findLastIndex(isPresent);
  const missing = expectedParts.slice(0, Math.max(lastPresent, 0)).filter((part) => !isPresent(part));
  if (missing.length === 0) return;
  throw new SettingsError([
    `OIQ_DATA_DIR: ${resolve(directory)} has ${expectedParts[lastPresent]?.name}, but ${missing.map(({ name }) => name).join(' and ')} of this installation is missing.`,
    'Restore the directory from a backup, or correct the setting. OIQ_NEW_INSTALLATION=true starts once without it:',
    `${missing.map(({ loss }) => loss).join('; ')}.`,
  ]);
};
