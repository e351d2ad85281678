/** Models with their prices, and the editor of a price */
import { useState } from 'preact/hooks';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { LocalTimeInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { SidePanel } from '../../lists/side-panel.tsx';
import { type LlmModels, modelsCall, priceCall } from './calls.ts';
import { formatAmounts, formatTokens } from './figures.ts';

type Model = LlmModels['items'][number];

const currencies = ['USD', 'EUR', 'GBP', 'CHF', 'JPY', 'CNY', 'INR', 'CAD'] as const;
type Currency = (typeof currencies)[number];

/** Kinds of tokens with a price, by title. Empty ones have the price of input or output. */
const rateFields = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cacheRead', 'Cache read'],
  ['cacheWrite', 'Cache write'],
  ['cacheWrite1h', 'Cache write, 1 hour'],
  ['reasoning', 'Reasoning'],
] as const;
type RateName = (typeof rateFields)[number][0];

/** How the name of a model is compared, by title. */
const matches = [
  ['', 'This model only'],
  ['startsWith', 'Names that begin with'],
  ['contains', 'Names that contain'],
] as const;
type MatchName = (typeof matches)[number][0];

type Rates = Partial<Record<RateName, string>>;

/** Price of requests with more input tokens, as it is edited. */
interface Tier {
  readonly above: string;
  readonly rates: Rates;
}

const toPerMillion = (rates: Rates) =>
  Object.fromEntries(
    rateFields.flatMap(([name]) => {
      const rate = (rates[name] ?? '').trim();
      return rate === '' ? [] : [[name, rate]];
    }),
  ) as { input: string; output: string };

const RateInputs = ({
  rates,
  path,
  problemOf,
  onChange,
}: {
  readonly rates: Rates;
  readonly path: string;
  readonly problemOf: (path: string) => string | undefined;
  readonly onChange: (rates: Rates) => void;
}) => (
  <>
    {rateFields.map(([name, title]) => (
      <TextInput
        key={name}
        label={title}
        value={rates[name] ?? ''}
        problem={problemOf(`${path}.${name}`)}
        onChange={(rate) => onChange({ ...rates, [name]: rate })}
      />
    ))}
  </>
);

const toLocalTime = (timeMs: number): string =>
  new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

const Editor = ({
  model,
  prices,
  onClose,
}: {
  readonly model: Model;
  readonly prices: LlmModels['prices'];
  readonly onClose: () => void;
}) => {
  const [action] = useState(() => new Action(priceCall));
  const stored = prices.find((price) => price.model === model.model);
  const [rates, setRates] = useState<Rates>(() => ({
    input: model.price?.perMillion.input ?? '',
    output: model.price?.perMillion.output ?? '',
  }));
  const [match, setMatch] = useState<MatchName>('');
  const [matchText, setMatchText] = useState(model.model);
  const [tiers, setTiers] = useState<readonly Tier[]>([]);
  const setTier = (index: number, tier: Tier): void =>
    setTiers(tiers.map((each, position) => (position === index ? tier : each)));
  const [currency, setCurrency] = useState<Currency>(
    currencies.find((name) => name === model.price?.currency) ?? 'USD',
  );
  const [validFrom, setValidFrom] = useState(() => toLocalTime(Date.now()));
  const problemOf = (path: string): string | undefined => action.error.value?.at(path);
  const save = async (): Promise<void> => {
    const body = {
      currency,
      validFrom: new Date(validFrom).toISOString(),
      perMillion: toPerMillion(rates),
      ...(match === 'startsWith' && { match: { startsWith: matchText } }),
      ...(match === 'contains' && { match: { contains: matchText } }),
      tiers: tiers.map((tier) => ({
        inputTokensAbove: Number(tier.above),
        perMillion: toPerMillion(tier.rates),
      })),
    };
    const saved = await action.run({
      params: { model: model.model },
      body,
      ...(stored === undefined ? {} : { ifMatch: stored.version }),
    });
    if (saved === undefined) return;
    refresh();
    onClose();
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <SelectInput
        label="Currency"
        value={currency}
        problem={problemOf('currency')}
        options={currencies.map((name) => [name, name] as const)}
        onChange={(name) => setCurrency(currencies.find((known) => known === name) ?? 'USD')}
      />
      <LocalTimeInput
        label="Valid from"
        value={validFrom}
        problem={problemOf('validFrom')}
        hint="An earlier time reprices requests since then."
        onChange={setValidFrom}
      />
      <SelectInput
        label="Models"
        value={match}
        problem={problemOf('match')}
        options={matches}
        onChange={(name) => setMatch(matches.find(([known]) => known === name)?.[0] ?? '')}
      />
      {match === '' ? null : (
        <TextInput
          label="Part of the name"
          value={matchText}
          problem={problemOf(`match.${match}`)}
          onChange={setMatchText}
        />
      )}
      <fieldset>
        <legend>Price of a million tokens</legend>
        <RateInputs rates={rates} path="perMillion" problemOf={problemOf} onChange={setRates} />
      </fieldset>
      {tiers.map((tier, index) => (
        <fieldset key={index}>
          <legend>Tier {index + 1}</legend>
          <TextInput
            label="Input tokens above"
            value={tier.above}
            problem={problemOf(`tiers.${index}.inputTokensAbove`)}
            onChange={(above) => setTier(index, { ...tier, above })}
          />
          <RateInputs
            rates={tier.rates}
            path={`tiers.${index}.perMillion`}
            problemOf={problemOf}
            onChange={(changed) => setTier(index, { ...tier, rates: changed })}
          />
          <Button kind="quiet" onClick={() => setTiers(tiers.filter((_, position) => position !== index))}>
            Remove tier {index + 1}
          </Button>
        </fieldset>
      ))}
      <Button kind="quiet" onClick={() => setTiers([...tiers, { above: '', rates }])}>
        Add tier
      </Button>
      <ErrorMessage error={action.error.value} />
      <div class="form-actions">
        <Button kind="primary" type="submit" disabled={action.isRunning.value}>
          Save price
        </Button>
      </div>
    </form>
  );
};

const PriceTable = ({ price }: { readonly price: NonNullable<Model['price']> }) => (
  <table class="figures texts">
    <thead>
      <tr>
        <th scope="col">Tokens</th>
        <th scope="col" class="number">
          {price.currency} per million
        </th>
        {price.tiers.map(({ inputTokensAbove }) => (
          <th key={inputTokensAbove} scope="col" class="number">
            above {formatTokens(inputTokensAbove)} input
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rateFields.map(([name, title]) => (
        <tr key={name}>
          <td>{title}</td>
          <td class="number">{price.perMillion[name]}</td>
          {price.tiers.map(({ inputTokensAbove, perMillion }) => (
            <td key={inputTokensAbove} class="number">
              {perMillion[name]}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

const ModelPanel = ({ model, prices }: { readonly model: Model; readonly prices: LlmModels['prices'] }) => {
  const close = (): void => setParams({ open: '', edit: '' });
  const isEditing = readParam('edit') !== '';
  return (
    <SidePanel label="Model" title={model.model || 'no model'} onClose={close}>
      {model.price === null ? (
        <>
          <p>Unpriced: {renderText(model.priceProblem ?? '')}.</p>
          {model.similarModels.length === 0 ? null : (
            <p class="soft">Similar names in the price table: {renderText(model.similarModels.join(', '))}.</p>
          )}
        </>
      ) : (
        <>
          <p class="soft">
            {model.price.source === 'organization' ? 'Your price' : renderText(model.price.source)}
            {model.price.validFrom === null ? '' : ` since ${formatIsoMinute(model.price.validFrom)}`}
          </p>
          <PriceTable price={model.price} />
        </>
      )}
      {isEditing ? (
        <Editor model={model} prices={prices} onClose={() => setParams({ edit: '' })} />
      ) : isPermitted(priceCall) && model.model !== '' ? (
        <Button kind="primary" onClick={() => setParams({ edit: 'price' })}>
          Set price
        </Button>
      ) : (
        <p class="soft">{explainDenial(priceCall, 'Setting prices')}</p>
      )}
    </SidePanel>
  );
};

const toKey = ({ provider, model }: Model): string => `${provider} ${model}`;

const PriceBadge = ({ price }: Pick<Model, 'price'>) => {
  if (price === null) return <Badge tone="warning">unpriced</Badge>;
  const isOwn = price.source === 'organization';
  return <Badge tone={isOwn ? 'info' : 'neutral'}>{isOwn ? 'your price' : 'table'}</Badge>;
};

const ModelRow = ({ model, isOpen }: { readonly model: Model; readonly isOpen: boolean }) => (
  <tr class={isOpen ? 'open' : ''}>
    <td>
      <Link url={toArea('/llm/models', { open: toKey(model) })}>{renderText(model.model || 'no model')}</Link>
    </td>
    <td>
      <bdi>{renderText(model.provider)}</bdi>
    </td>
    <td>
      <PriceBadge price={model.price} />
    </td>
    <td class="number">{model.price?.perMillion.input}</td>
    <td class="number">{model.price?.perMillion.output}</td>
    <td class="number">{formatQuantity(model.requests, '')}</td>
    <td class="number">{formatTokens(model.tokens.total)}</td>
    <td class="number">{formatAmounts(model.costs)}</td>
    <td class="no-wrap">{formatIsoMinute(model.lastSeen)}</td>
  </tr>
);

export const LlmModelsPage = () => {
  const queryState = useQuery(modelsCall, { query: { ...timeRange.value, ...projectScope.value } });
  const { response, error } = queryState;
  const openModel = response?.items.find((model) => toKey(model) === readParam('open'));
  return (
    <>
      <ErrorMessage error={error} />
      <div class={openModel === undefined ? 'list' : 'list with-record'}>
        <ScrollRegion class="scrolled llm" label="Models and prices">
          {response === undefined ? (
            <SkeletonRows />
          ) : response.items.length === 0 ? (
            <EmptyView title="No models in this range." />
          ) : (
            <Card title="Models" note={response.priceTable} isFlush>
              <div class="scroll-x">
                <table class="figures texts">
                  <thead>
                    <tr>
                      <th scope="col">Model</th>
                      <th scope="col">Provider</th>
                      <th scope="col">Price</th>
                      {['Input price', 'Output price', 'Requests', 'Tokens', 'Cost'].map((title) => (
                        <th key={title} scope="col" class="number">
                          {title}
                        </th>
                      ))}
                      <th scope="col">Last seen</th>
                    </tr>
                  </thead>
                  <tbody>
                    {response.items.map((model) => (
                      <ModelRow key={toKey(model)} model={model} isOpen={model === openModel} />
                    ))}
                  </tbody>
                </table>
              </div>
            </Card>
          )}
        </ScrollRegion>
        {openModel === undefined || response === undefined ? null : (
          <ModelPanel key={toKey(openModel)} model={openModel} prices={response.prices} />
        )}
      </div>
      <Freshness queryState={queryState} />
    </>
  );
};
LlmModelsPage.requiredCall = modelsCall;
