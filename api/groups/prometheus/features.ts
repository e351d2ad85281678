/** Features of Prometheus that this API supports; clients adapt their requests to them. */
import { readFeatures } from '../../../queries/promql/settings.ts';
import { aggregators } from '../../../queries/promql/syntax/lexer.ts';
import { experimentalAggregators } from '../../../queries/promql/syntax/parser.ts';
import { signatures } from '../../../queries/promql/syntax/signatures.ts';
import type { Settings } from '../../../schemas/settings.ts';
import { functions } from '../../../subjects/alerts/templates/functions.ts';
import { defineGetOperation } from './define-operation.ts';

type Category = Readonly<Record<string, boolean>>;

const toCategory = (names: Iterable<string>, isEnabled: (name: string) => boolean = () => true): Category =>
  Object.fromEntries([...names].sort().map((name) => [name, isEnabled(name)]));

const operators = '+ - * / % ^ == != < <= > >= =~ !~ @ and or unless atan2'.split(' ');

const supportedSyntax = [
  ...['at_modifier', 'bool', 'by', 'group_left', 'group_right', 'ignoring', 'negative_offset', 'offset', 'on'],
  ...['per_query_lookback_delta', 'subqueries', 'without'],
];

/**
 * Returns the features by category, with the names that Prometheus uses. Features of its storage, scraping and web pages
 * are omitted, because they do not apply here.
 */
const listFeatures = (settings: Settings): Readonly<Record<string, Category>> => {
  const { syntax, engine } = readFeatures(settings);
  const { experimentalFunctions, durationExpressions, extendedRangeSelectors, fillModifiers } = syntax;
  return {
    api: {
      admin: false,
      lifecycle: false,
      remote_read: false,
      remote_write_receiver: true,
      otlp_write_receiver: true,
      ...toCategory(['exclude_alerts', 'query_stats', 'query_warnings', 'time_range_labels', 'time_range_series']),
    },
    promql: {
      ...toCategory(supportedSyntax),
      anchored: extendedRangeSelectors,
      smoothed: extendedRangeSelectors,
      duration_expr: durationExpressions,
      fill: fillModifiers,
      fill_left: fillModifiers,
      fill_right: fillModifiers,
      delayed_name_removal: engine.delayedNameRemoval,
      type_and_unit_labels: engine.typeAndUnitLabels,
    },
    promql_functions: toCategory(
      signatures.keys(),
      (name) => experimentalFunctions || signatures.get(name)?.isExperimental !== true,
    ),
    promql_operators: {
      ...toCategory(operators),
      ...toCategory(aggregators, (name) => experimentalFunctions || !experimentalAggregators.has(name)),
    },
    rules: toCategory(['keep_firing_for', 'query_offset']),
    templating_functions: toCategory(Object.keys(functions)),
  };
};

export const showFeatures = defineGetOperation({
  path: 'features',
  operationId: 'showPrometheusFeatures',
  summary: 'List the supported Prometheus features of the API, PromQL, rules and templates',
  parameters: {},
  run: (_request, { settings }) => ({ data: listFeatures(settings) }),
});
