/** Domains, with their telemetry and the questions about it. */
import { airline, airlineQuestions } from './airline.ts';
import { airport, airportQuestions } from './airport.ts';
import { bank, bankQuestions } from './bank.ts';
import { charging, chargingQuestions } from './charging.ts';
import { cinema, cinemaQuestions } from './cinema.ts';
import { clinic, clinicQuestions } from './clinic.ts';
import { datacenter, datacenterQuestions } from './datacenter.ts';
import { factory, factoryQuestions } from './factory.ts';
import { games, gamesQuestions } from './games.ts';
import { groceries, groceriesQuestions } from './groceries.ts';
import { hotel, hotelQuestions } from './hotel.ts';
import { insurer, insurerQuestions } from './insurer.ts';
import { library, libraryQuestions } from './library.ts';
import { heldOutMeteringQuestions, metering, meteringQuestions } from './metering.ts';
import { newspaper, newspaperQuestions } from './newspaper.ts';
import { heldOutParcelQuestions, parcelQuestions, parcels } from './parcels.ts';
import { podcasts, podcastsQuestions } from './podcasts.ts';
import { port, portQuestions } from './port.ts';
import { railway, railwayQuestions } from './railway.ts';
import { resort, resortQuestions } from './resort.ts';
import { shop, shopQuestions } from './shop.ts';
import { taxOffice, taxOfficeQuestions } from './tax-office.ts';
import { telecom, telecomQuestions } from './telecom.ts';
import { themePark, themeParkQuestions } from './theme-park.ts';
import { transit, transitQuestions } from './transit.ts';
import { university, universityQuestions } from './university.ts';
import { webshop, webshopQuestions } from './webshop.ts';

/** Domain, catalogue, and questions with their interpretations. */
export const trades = [
  ['a shop', shop, shopQuestions],
  ['a web shop', webshop, webshopQuestions],
  ['a railway', railway, railwayQuestions],
  ['a clinic', clinic, clinicQuestions],
  ['a bank', bank, bankQuestions],
  ['a parcel service', parcels, [...parcelQuestions, ...heldOutParcelQuestions]],
  ['a power utility', metering, [...meteringQuestions, ...heldOutMeteringQuestions]],
  ['a newspaper', newspaper, newspaperQuestions],
  ['a hotel', hotel, hotelQuestions],
  ['an airport', airport, airportQuestions],
  ['a container port', port, portQuestions],
  ['a ski resort', resort, resortQuestions],
  ['libraries of a city', library, libraryQuestions],
  ['a charging network', charging, chargingQuestions],
  ['a podcast platform', podcasts, podcastsQuestions],
  ['a grocer', groceries, groceriesQuestions],
  ['an insurer', insurer, insurerQuestions],
  ['a bus company', transit, transitQuestions],
  ['cinemas', cinema, cinemaQuestions],
  ['a hosting company', datacenter, datacenterQuestions],
  ['a telecom operator', telecom, telecomQuestions],
  ['a games studio', games, gamesQuestions],
  ['a car maker', factory, factoryQuestions],
  ['a university', university, universityQuestions],
  ['an airline', airline, airlineQuestions],
  ['a theme park', themePark, themeParkQuestions],
  ['a tax office', taxOffice, taxOfficeQuestions],
] as const;

/** The questions of these domains are also tested with an unknown word added. */
export const tradesWithUnknownWords = [
  [port, portQuestions],
  [resort, resortQuestions],
  [library, libraryQuestions],
] as const;
