/**
 * 300 questions of five persons in each of four trades, with what answers each. The answers were written before the
 * grammar read any of them. One trade, and one person of two others, were held out until they were looked at once.
 */
import { banking, bankingPersons } from './banking.ts';
import { freight, freightPersons } from './freight.ts';
import { hospital, hospitalPersons } from './hospital.ts';
import { rides, ridesPersons } from './rides.ts';

export const personsOfTrades = [
  ['a bank', banking, bankingPersons],
  ['a carrier', freight, freightPersons],
  ['a hospital', hospital, hospitalPersons],
  ['a ride-hailing company', rides, ridesPersons],
] as const;
