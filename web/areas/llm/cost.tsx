/** Cost explorer: groups with their costs and tokens, and over time */
import { formatQuantity } from '../../charts/values.ts';
import { Card } from '../../components/card.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { Search } from '../../frame/search.tsx';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { SelectFilters } from '../../lists/declared-list.tsx';
import { EmptyView } from '../../lists/empty-view.tsx';
import { costCall, type LlmCost } from './calls.ts';
import { CostChart, type CostGroup } from './cost-chart.tsx';
import { formatAmounts, formatTokens, getAmount, getMainCurrency } from './figures.ts';

const groupings = [
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['service', 'Service'],
  ['userId', 'User'],
  ['conversationId', 'Conversation'],
  ['agent', 'Agent'],
  ['prompt,promptVersion', 'Prompt and version'],
  ['operation', 'Operation'],
  ['environment', 'Environment'],
] as const;

const filters = [
  {
    name: 'prices',
    label: 'Prices',
    options: [
      ['call', 'At the time of the request'],
      ['today', 'Of today'],
    ],
  },
] as const;

const defaultGrouping = 'model';
const readGrouping = (): string => readParam('groupBy') || defaultGrouping;

/** Fields to choose from, and any other field or attribute by its name. */
const GroupBy = ({ problem }: { readonly problem: string | undefined }) => {
  const grouping = readGrouping();
  return (
    <label>
      Group by{' '}
      <input
        key={grouping}
        list="llm-groupings"
        value={grouping}
        spellcheck={false}
        aria-invalid={problem !== undefined}
        title={problem ?? 'Fields or attributes, separated by commas'}
        onChange={({ currentTarget }) => setParams({ groupBy: currentTarget.value.trim() })}
      />
      <datalist id="llm-groupings">
        {groupings.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </datalist>
    </label>
  );
};

const toGroupName = (group: CostGroup['group']): string =>
  Object.values(group)
    .map((value) => value || 'none')
    .join(' · ');

const toSearch = (group: CostGroup['group']): string =>
  Object.entries(group)
    .map(([name, value]) => (value === '' ? `NOT ${name}:*` : `${name}:${JSON.stringify(value)}`))
    .join(' ');

const GroupTable = ({ cost }: { readonly cost: LlmCost }) => {
  const currency = getMainCurrency(cost.total.costs);
  const total = getAmount(cost.total.costs, currency);
  return (
    <Card title="Groups" note={cost.omittedGroups === 0 ? undefined : `${cost.omittedGroups} more`} isFlush>
      <div class="scroll-x">
        <table class="figures texts">
          <thead>
            <tr>
              <th scope="col">
                {renderText(groupings.find(([name]) => name === readGrouping())?.[1] ?? readGrouping())}
              </th>
              {['Cost', 'Share', 'Requests', 'Input', 'Output', 'Unpriced'].map((title) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cost.items.map(({ group, costs, requests, tokens, unpricedRequests }) => (
              <tr key={JSON.stringify(group)}>
                <td>
                  <Link url={toArea('/llm/requests', { search: toSearch(group) })}>
                    {renderText(toGroupName(group))}
                  </Link>
                </td>
                <td class="number" title={costs.map(({ amount, currency: unit }) => `${amount} ${unit}`).join(', ')}>
                  {formatAmounts(costs)}
                </td>
                <td class="number">
                  {total === 0 ? '' : formatQuantity((100 * getAmount(costs, currency)) / total, '%')}
                </td>
                <td class="number">{formatQuantity(requests, '')}</td>
                <td class="number">{formatTokens(tokens.allInput)}</td>
                <td class="number">{formatTokens(tokens.allOutput)}</td>
                <td class="number">{unpricedRequests === 0 ? '' : formatQuantity(unpricedRequests, '')}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td>Total</td>
              <td
                class="number"
                title={cost.total.costs.map(({ amount, currency: unit }) => `${amount} ${unit}`).join(', ')}
              >
                {formatAmounts(cost.total.costs)}
              </td>
              <td class="number" />
              <td class="number">{formatQuantity(cost.total.requests, '')}</td>
              <td class="number">{formatTokens(cost.total.tokens.allInput)}</td>
              <td class="number">{formatTokens(cost.total.tokens.allOutput)}</td>
              <td class="number">
                {cost.total.unpricedRequests === 0 ? '' : formatQuantity(cost.total.unpricedRequests, '')}
              </td>
            </tr>
          </tfoot>
        </table>
      </div>
    </Card>
  );
};

export const LlmCostPage = () => {
  const search = readParam('search');
  const prices = readParam('prices') === 'today' ? ('today' as const) : ('call' as const);
  const queryState = useQuery(costCall, {
    query: {
      ...timeRange.value,
      ...projectScope.value,
      groupBy: readGrouping(),
      over: 'time',
      prices,
      ...(search === '' ? {} : { search }),
    },
  });
  const { response, error } = queryState;
  return (
    <div class="llm">
      <div class="toolbar">
        <Search
          key={search}
          label="Search requests"
          placeholder="provider:openai tokens:>1000"
          value={search}
          problem={error?.of('search')}
          onSearch={(text) => setParams({ search: text.trim() })}
        />
        <GroupBy problem={error?.of('groupBy')} />
        <SelectFilters selectFilters={filters} />
      </div>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      {response === undefined ? (
        <SkeletonRows />
      ) : response.items.length === 0 ? (
        <EmptyView title="No requests in this range." />
      ) : (
        <>
          <CostChart cost={response} title="Cost over time" maxLines={8} toName={toGroupName} height={220} />
          <GroupTable cost={response} />
        </>
      )}
      <Freshness queryState={queryState} />
    </div>
  );
};
LlmCostPage.requiredCall = costCall;
