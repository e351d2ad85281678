import { licenseKeysContract } from './license-keys.ts';

licenseKeysContract('sqlite');
