/** Query kind for the probability that values cross a limit. */
import { findForecastProblem, forecastColumnCount, runForecast } from '../forecast/run-forecast.ts';
import { ForecastQuery, type MeasuringQuery } from '../query.ts';
import { defineQueryKind } from '../query-kind.ts';
import { toStateGroups } from '../series-states.ts';

export const forecast = defineQueryKind<ForecastQuery>({
  schema: ForecastQuery,
  isFormulaPart: false,
  parts: {
    list: ({ query }) => [['query', query]],
    change: (forecastQuery, change) => ({ ...forecastQuery, query: change(forecastQuery.query) as MeasuringQuery }),
  },
  signals: () => [],
  run: runForecast,
  inspect(query, inspection) {
    const problem = findForecastProblem(query);
    if (problem !== undefined) inspection.problem(...problem);
  },
  states: (_query, table) => toStateGroups(table, forecastColumnCount),
  singleValue: 'a forecast has one probability',
  isPrediction: true,
  sentence({ until, horizon, query }, parts) {
    const [side, limit] = Object.entries(until)[0] ?? [];
    return `probability within ${horizon} of ${side} ${limit} for ${parts.query(query)}`;
  },
});
