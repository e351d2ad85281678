/** Overview of requests to models: tiles, and charts of cost, tokens and latency */
import { MessagesSquare } from 'lucide';
import { useMemo } from 'preact/hooks';
import { ChartCard } from '../../charts/chart-card.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { StatTiles, type TileDefinition } from '../../components/stat-tile.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { costCall, type LlmCost, type LlmLatency, type LlmOverview, latencyCall, overviewCall } from './calls.ts';
import { CostChart, type CostGroup, toSteps } from './cost-chart.tsx';
import { computeChange, formatAmounts, formatTokens, getAmount, getMainCurrency, tokenTitles } from './figures.ts';

const useScopedQuery = () => ({ ...timeRange.value, ...projectScope.value });

type Totals = LlmOverview['current'];

const getErrorShare = ({ requests, failedRequests }: Totals): number =>
  requests === 0 ? 0 : failedRequests / requests;

/** Returns the relative change of a value since the previous range; `undefined` if either is unknown. */
const toChange = (
  { current, previous }: LlmOverview,
  getValue: (totals: Totals) => number | undefined,
): number | undefined => {
  const value = getValue(current);
  return value === undefined || previous === null ? undefined : computeChange(value, getValue(previous));
};

const tiles: readonly TileDefinition<LlmOverview>[] = [
  [
    'Cost',
    (overview) => {
      const currency = getMainCurrency(overview.current.costs);
      return {
        value: formatAmounts(overview.current.costs),
        change: toChange(overview, ({ costs }) => getAmount(costs, currency)),
        isWorse: 'up',
        note: 'no earlier data',
        url: toArea('/llm/cost'),
      };
    },
  ],
  [
    'Requests',
    (overview) => ({
      value: formatQuantity(overview.current.requests, ''),
      change: toChange(overview, ({ requests }) => requests),
      note: 'no earlier data',
      url: toArea('/llm/requests'),
    }),
  ],
  [
    'Tokens',
    (overview) => ({
      value: formatTokens(overview.current.tokens.total),
      change: toChange(overview, ({ tokens }) => Number(tokens.total)),
      note: 'no earlier data',
    }),
  ],
  [
    'Error rate',
    (overview) => ({
      value: formatQuantity(100 * getErrorShare(overview.current), '%'),
      change: toChange(overview, getErrorShare),
      isWorse: 'up',
      note: `${overview.current.failedRequests} failed`,
      url: toArea('/llm/requests', { search: 'status:error' }),
    }),
  ],
  [
    'p95 latency',
    (overview) => ({
      value: overview.current.latency === null ? '–' : formatQuantity(overview.current.latency.p95, 'ms'),
      change: toChange(overview, ({ latency }) => latency?.p95),
      isWorse: 'up',
      note: 'no earlier data',
    }),
  ],
  [
    'Cache hit rate',
    ({ current: { cacheHitRate } }) => ({
      value: cacheHitRate === null ? '–' : formatQuantity(100 * cacheHitRate, '%'),
      note: 'share of input tokens',
    }),
  ],
  [
    'Unpriced',
    ({ current: { requests, unpriced } }) => ({
      value: formatQuantity(requests === 0 ? 0 : (100 * unpriced.requests) / requests, '%'),
      note: `${unpriced.requests} requests`,
      url: toArea('/llm/requests', { search: 'priced:false' }),
    }),
  ],
];

const toModelName = ({ model }: CostGroup['group']): string => model || 'no model';

const chartedKinds = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

const TokenChart = ({ cost }: { readonly cost: LlmCost | undefined }) => {
  const chart = useMemo(() => {
    if (cost === undefined) return undefined;
    const steps = toSteps(cost.items);
    const sumOf = (step: number, kind: (typeof chartedKinds)[number]): number =>
      cost.items.reduce(
        (sum, { points }) => sum + Number(points.find(({ time }) => Date.parse(time) === step)?.tokens[kind] ?? 0),
        0,
      );
    return {
      unit: '',
      stepMs: cost.stepMs ?? 0,
      steps,
      isStacked: true,
      lines: chartedKinds
        .map((kind) => ({ name: tokenTitles[kind], values: steps.map((step) => sumOf(step, kind)) }))
        .filter(({ values }) => values.some((value) => value > 0)),
    };
  }, [cost]);
  return <ChartCard title="Tokens by kind" chart={chart} emptyText="No tokens in this range." />;
};

const LatencyChart = ({ latency }: { readonly latency: LlmLatency | undefined }) => {
  const chart = useMemo(() => {
    if (latency === undefined) return undefined;
    const { points, stepMs } = latency;
    return {
      unit: 'ms',
      stepMs: stepMs ?? 0,
      steps: points.map(({ time }) => Date.parse(time)),
      lines: [
        { name: 'p50', values: points.map(({ duration }) => duration?.p50) },
        { name: 'p95', values: points.map(({ duration }) => duration?.p95) },
        { name: 'p50 to first token', values: points.map(({ timeToFirstToken }) => timeToFirstToken?.p50) },
      ].filter(({ values }) => values.some((value) => value !== undefined)),
    };
  }, [latency]);
  return <ChartCard title="Latency" chart={chart} emptyText="No requests in this range." />;
};

const LatencyTable = ({ items }: { readonly items: LlmLatency['items'] }) => (
  <Card title="Latency by model" isFlush>
    <div class="scroll-x">
      <table class="figures texts">
        <thead>
          <tr>
            <th scope="col">Model</th>
            {['Requests', 'p50', 'p95', 'First token, p50', 'Tokens per second'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map(({ group, requests, duration, timeToFirstToken, tokensPerSecond }) => (
            <tr key={group['model']}>
              <td>
                <bdi>{renderText(group['model'] || 'no model')}</bdi>
              </td>
              <td class="number">{formatQuantity(requests, '')}</td>
              <td class="number">{formatQuantity(duration?.p50, 'ms')}</td>
              <td class="number">{formatQuantity(duration?.p95, 'ms')}</td>
              <td class="number">
                {timeToFirstToken === null ? 'not measured' : formatQuantity(timeToFirstToken.p50, 'ms')}
              </td>
              <td class="number">
                {tokensPerSecond === null ? 'not measured' : formatQuantity(tokensPerSecond.p50, '')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </Card>
);

const Reasons = ({ current }: { readonly current: Totals }) => (
  <Card title="Needs attention">
    <ul class="links">
      {current.errors.map(({ type, requests }) => (
        <li key={`error ${type}`}>
          <Link url={toArea('/llm/requests', { search: `errorType:${JSON.stringify(type)}` })}>
            {requests} failed with {renderText(type)}
          </Link>
        </li>
      ))}
      {current.unpriced.reasons.map(({ reason, requests }) => (
        <li key={`price ${reason}`}>
          <Link url={toArea('/llm/requests', { search: `priceProblem:${JSON.stringify(reason)}` })}>
            {requests} unpriced: {renderText(reason)}
          </Link>
        </li>
      ))}
      {current.tracesWithUncountedTokens === 0 ? null : (
        <li>
          In {current.tracesWithUncountedTokens} traces only agents, workflows or chains report tokens, which are not
          counted.
        </li>
      )}
      {current.reportedCost === null ? null : (
        <li>Senders reported {formatAmounts([current.reportedCost])}, which no cost here includes.</li>
      )}
      {current.errors.length + current.unpriced.reasons.length + current.tracesWithUncountedTokens === 0 &&
      current.reportedCost === null ? (
        <li class="soft">Nothing in this range.</li>
      ) : null}
    </ul>
  </Card>
);

export const LlmOverviewPage = () => {
  const query = useScopedQuery();
  const overview = useQuery(overviewCall, { query });
  const { response: cost } = useQuery(costCall, { query: { ...query, groupBy: 'model', over: 'time' } });
  const { response: latency } = useQuery(latencyCall, { query: { ...query, groupBy: 'model', over: 'time' } });
  const { response } = overview;
  if (response !== undefined && response.current.requests === 0)
    return (
      <EmptyState
        icon={MessagesSquare}
        title="No requests to models in this range"
        actions={<ButtonLink url={toArea('/get-started')}>Send data</ButtonLink>}
      >
        Requests appear as soon as services send spans of OpenTelemetry’s GenAI conventions, OpenLLMetry, OpenInference,
        the AI SDK or Langfuse.
      </EmptyState>
    );
  return (
    <div class="llm">
      <ErrorMessage error={overview.error} />
      <StatTiles tiles={tiles} response={response} />
      <div class="columns llm-charts">
        <CostChart cost={cost} title="Cost by model" maxLines={6} toName={toModelName} />
        <TokenChart cost={cost} />
        <LatencyChart latency={latency} />
        {response === undefined ? null : <Reasons current={response.current} />}
      </div>
      {latency === undefined ? null : <LatencyTable items={latency.items} />}
      <Freshness queryState={overview} />
    </div>
  );
};
LlmOverviewPage.requiredCall = overviewCall;
