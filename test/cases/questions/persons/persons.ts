/**
 * 300 questions of five persons in each of four domains, with their expected results, which were written before the
 * grammar parsed any question. One domain, and one person of two others, were held out and evaluated once.
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
