/** Features of Prometheus that this API supports; clients adapt their requests to them. */
import { featuresOf } from '../../../queries/promql/settings.ts';
import { aggregators } from '../../../queries/promql/syntax/lexer.ts';
import { experimentalAggregators } from '../../../queries/promql/syntax/parser.ts';
import { signatures } from '../../../queries/promql/syntax/signatures.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { functions } from '../../../subjects/alerts/templates/functions.ts';
import { byGet } from './answer.ts';

type Category = Readonly<Record<string, boolean>>;

const each = (names: Iterable<string>, isEnabled: (name: string) => boolean = () => true): Category =>
  Object.fromEntries([...names].sort().map((name) => [name, isEnabled(name)]));

const operators = '+ - * / % ^ == != < <= > >= =~ !~ @ and or unless atan2'.split(' ');

const always = [
  ...['at_modifier', 'bool', 'by', 'group_left', 'group_right', 'ignoring', 'negative_offset', 'offset', 'on'],
  ...['per_query_lookback_delta', 'subqueries', 'without'],
];

/**
 * Categories and names are those of Prometheus. Its storage, scraping and pages are omitted, since they do not apply to
 * another program.
 */
const categoriesOf = (settings: Settings): Readonly<Record<string, Category>> => {
  const { syntax, engine } = featuresOf(settings);
  const { experimentalFunctions, durationExpressions, extendedRangeSelectors, fillModifiers } = syntax;
  return {
    api: {
      admin: false,
      lifecycle: false,
      remote_read: false,
      remote_write_receiver: true,
      otlp_write_receiver: true,
      ...each(['exclude_alerts', 'query_stats', 'query_warnings', 'time_range_labels', 'time_range_series']),
    },
    promql: {
      ...each(always),
      anchored: extendedRangeSelectors,
      smoothed: extendedRangeSelectors,
      duration_expr: durationExpressions,
      fill: fillModifiers,
      fill_left: fillModifiers,
      fill_right: fillModifiers,
      delayed_name_removal: engine.delayedNameRemoval,
      type_and_unit_labels: engine.typeAndUnitLabels,
    },
    promql_functions: each(
      signatures.keys(),
      (name) => experimentalFunctions || signatures.get(name)?.experimental !== true,
    ),
    promql_operators: {
      ...each(operators),
      ...each(aggregators, (name) => experimentalFunctions || !experimentalAggregators.has(name)),
    },
    rules: each(['keep_firing_for', 'query_offset']),
    templating_functions: each(Object.keys(functions)),
  };
};

export const showFeatures = byGet({
  path: 'features',
  operationId: 'showPrometheusFeatures',
  summary: 'List the supported features of Prometheus: of its API, of PromQL, of rules and of templates',
  parameters: {},
  answer: (_request, { settings }) => ({ data: categoriesOf(settings) }),
});
