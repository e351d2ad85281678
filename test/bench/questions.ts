/** How many questions in plain language are read right, refused, given alternatives of, or read wrongly; and how long one takes. */

import { airport, airportQuestions } from '../cases/questions/airport.ts';
import { answerTo } from '../cases/questions/asked.ts';
import { bank, bankQuestions } from '../cases/questions/bank.ts';
import { clinic, clinicQuestions } from '../cases/questions/clinic.ts';
import { hotel, hotelQuestions } from '../cases/questions/hotel.ts';
import { library, libraryQuestions } from '../cases/questions/library.ts';
import { metering, meteringQuestions, meteringQuestionsApart } from '../cases/questions/metering.ts';
import { newspaper, newspaperQuestions } from '../cases/questions/newspaper.ts';
import { parcelQuestions, parcelQuestionsApart, parcels } from '../cases/questions/parcels.ts';
import { port, portQuestions } from '../cases/questions/port.ts';
import { railway, railwayQuestions } from '../cases/questions/railway.ts';
import { resort, resortQuestions } from '../cases/questions/resort.ts';
import { shop, shopQuestions } from '../cases/questions/shop.ts';

const trades = [
  ['shop', shop, shopQuestions],
  ['railway', railway, railwayQuestions],
  ['clinic', clinic, clinicQuestions],
  ['bank', bank, bankQuestions],
  ['parcel service', parcels, [...parcelQuestions, ...parcelQuestionsApart]],
  ['metering', metering, [...meteringQuestions, ...meteringQuestionsApart]],
  ['newspaper', newspaper, newspaperQuestions],
  ['hotel', hotel, hotelQuestions],
  ['airport', airport, airportQuestions],
  ['container port', port, portQuestions],
  ['ski resort', resort, resortQuestions],
  ['libraries', library, libraryQuestions],
] as const;

const judged = (answer: string | string[], expected: string | readonly string[]): string => {
  if (JSON.stringify(answer) === JSON.stringify(expected)) return 'right';
  if (Array.isArray(answer)) return 'alternatives';
  return answer.startsWith('refused') ? 'refused' : 'wrong';
};

for (const [trade, catalogue, questions] of trades) {
  const counts = { right: 0, refused: 0, alternatives: 0, wrong: 0 } as Record<string, number>;
  const begin = process.cpuUsage();
  for (const [question, expected] of questions) {
    const judgement = judged(answerTo(question, catalogue), expected);
    counts[judgement] = (counts[judgement] ?? 0) + 1;
  }
  const { user, system } = process.cpuUsage(begin);
  console.log(
    trade,
    questions.length,
    counts,
    `${((user + system) / 1000 / questions.length).toFixed(1)} CPU-ms a question`,
  );
}
