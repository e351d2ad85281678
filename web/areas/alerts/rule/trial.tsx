/**
 * Preview of the draft rule: its values in the range, the current state of each group, and a backtest
 */

import { computed, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { formatQuantity } from '../../../charts/values.ts';
import { Action } from '../../../client/action.ts';
import { ApiQuery } from '../../../client/query.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { formatDuration } from '../../../frame/durations.ts';
import { formatIsoTime } from '../../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../../frame/freshness.tsx';
import { lazyLoad } from '../../../frame/lazy-load.tsx';
import { isPermitted } from '../../../frame/rights.ts';
import { SeverityBadge } from '../../../frame/severity-badge.tsx';
import { timeRange, toRangeTitle, typedRange } from '../../../frame/time-range.ts';
import { ScrollRegion } from '../../../lists/scroll-region.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { formatLabels } from '../alert-format.ts';
import { type Backtest, backtestCall, type RuleInput, type RulePreview, startBacktestCall } from '../calls.ts';
import { draftRule, isDraftChanged, preview, withDefaultName } from './draft.ts';

const PastChart = lazyLoad(async () => (await import('./chart.tsx')).PastChart);

/** Maximum number of displayed groups */
const maxDisplayedInstances = 50;
const pollMs = 1_000;
const numberFormat = new Intl.NumberFormat('en');

/** The started backtest and its rule */
const backtest = new ApiQuery(backtestCall);
const backtestedRule = signal('');
/** Times at which the rule would have started to fire, while the rule is unchanged */
const firings = computed(() =>
  backtestedRule.value === JSON.stringify(draftRule.value)
    ? (backtest.state.value.response?.transitions ?? [])
        .filter(({ from, to }) => to === 'firing' && from !== 'firing' && from !== 'recovering')
        .map(({ at }) => Date.parse(at))
    : [],
);

const ValuesChart = ({ past }: { readonly past: RulePreview['past'] }) => {
  if (past === null) return <p class="soft">This rule has no chart of past values.</p>;
  if (past.error !== null) return <p class="problem">{renderText(past.error)}</p>;
  if (past.series.length === 0)
    return (
      <p class="said" role="status">
        No values in this range.
      </p>
    );
  return (
    <>
      <PastChart past={past} firings={firings.value} />
      {past.partial.map(({ message }) => (
        <p key={message} class="soft">
          Incomplete: {renderText(message)}.
        </p>
      ))}
    </>
  );
};

const CurrentInstances = ({ rulePreview }: { readonly rulePreview: RulePreview }) => (
  <>
    <p role="status">
      State: <b class={rulePreview.state === 'firing' ? 'text-error' : ''}>{rulePreview.state}</b>,{' '}
      {numberFormat.format(rulePreview.groupCount)} {rulePreview.groupCount === 1 ? 'group' : 'groups'}.
      {rulePreview.error === null ? '' : ' '}
      {rulePreview.error === null ? null : <span class="text-error">{renderText(rulePreview.error)}</span>}
    </p>
    {rulePreview.groups.length === 0 ? null : (
      <ScrollRegion class="numbers" label="Current instances">
        <table class="figures texts">
          <TableHeader columns={['Instance', 'State', 'Severity', 'Value', 'Reason']} />
          <tbody>
            {rulePreview.groups
              .slice(0, maxDisplayedInstances)
              .map(({ alertId, labels, state, severity, value, reason }) => (
                <tr key={alertId}>
                  <td>
                    <bdi>{renderText(formatLabels(labels) || 'no labels')}</bdi>
                  </td>
                  <td>{state}</td>
                  <td>
                    <SeverityBadge severity={severity} />
                  </td>
                  <td>{value === null ? '' : formatQuantity(value, rulePreview.past?.series[0]?.unit ?? '')}</td>
                  <td>{renderText(reason)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </ScrollRegion>
    )}
    {rulePreview.groupCount > maxDisplayedInstances ? (
      <p class="soft">First {maxDisplayedInstances} groups shown.</p>
    ) : null}
  </>
);

const BacktestResult = ({ result }: { readonly result: Backtest }) => {
  const { status, progress, evaluations, failed, lastError, groups, isTruncated } = result;
  const count = groups.reduce((sum, group) => sum + group.firings, 0);
  if (status === 'running')
    return (
      <p role="status">
        {Math.round(100 * progress)} % done: {numberFormat.format(evaluations)} evaluations.
      </p>
    );
  return (
    <>
      <p role="status">
        From {formatIsoTime(result.from)} to {formatIsoTime(result.to)} the rule would have fired{' '}
        <b id="firings">{count === 1 ? 'once' : `${numberFormat.format(count)} times`}</b> in{' '}
        {numberFormat.format(evaluations)} evaluations.
        {failed === 0 ? '' : ` ${numberFormat.format(failed)} evaluations failed: ${lastError ?? ''}`}
        {isTruncated ? ' The list of changes is truncated.' : ''}
      </p>
      {groups.length === 0 ? null : (
        <ScrollRegion class="numbers" label="Backtest results">
          <table class="figures texts">
            <TableHeader columns={['Instance', 'Firings', 'Duration']} />
            <tbody>
              {groups.slice(0, maxDisplayedInstances).map(({ alertId, labels, firings: firingCount, firingMs }) => (
                <tr key={alertId}>
                  <td>
                    <bdi>{renderText(formatLabels(labels) || 'no labels')}</bdi>
                  </td>
                  <td>{numberFormat.format(firingCount)}</td>
                  <td>{formatDuration(firingMs * 1e6)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </>
  );
};

const BacktestSection = ({ rule }: { readonly rule: RuleInput }) => {
  const [startAction] = useState(() => new Action(startBacktestCall));
  const { response } = backtest.state.value;
  const isCurrentRule = backtestedRule.value === JSON.stringify(rule);
  const [id, status] = [response?.id, response?.status];
  useEffect(() => {
    if (id === undefined || status !== 'running') return;
    const pollTimer = setInterval(() => backtest.run({ params: { id } }), pollMs);
    return () => clearInterval(pollTimer);
  }, [id, status]);
  const runBacktest = async (): Promise<void> => {
    const { from, to } = timeRange.peek();
    const startedBacktest = await startAction.run({ body: { rule: withDefaultName(rule), from, to } });
    if (startedBacktest === undefined) return;
    backtestedRule.value = JSON.stringify(rule);
    backtest.clear();
    backtest.run({ params: { id: startedBacktest.id } });
  };
  const startError = startAction.error.value;
  return (
    <Card
      title="Backtest"
      note={toRangeTitle(typedRange.value).toLowerCase()}
      actions={
        <Button disabled={startAction.isRunning.value || status === 'running'} onClick={() => void runBacktest()}>
          Run backtest
        </Button>
      }
    >
      {startError === undefined ? null : (
        <p class="problem" role="alert">
          {renderText(startError.details[0]?.message ?? startError.message)}
        </p>
      )}
      <ErrorMessage error={backtest.state.value.error} />
      {response === undefined ? null : isCurrentRule ? (
        <BacktestResult result={response} />
      ) : (
        <p class="soft">The rule was changed since the last backtest.</p>
      )}
    </Card>
  );
};

/** Message while there is no preview, with a button that focuses the first invalid field, which may not be visible. */
const EmptyPreview = () => (
  <>
    <p class="soft">Fill in the condition to see a preview.</p>
    {preview.state.value.error === undefined || !isDraftChanged.value ? null : (
      <button
        type="button"
        class="plain"
        onClick={() => document.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()}
      >
        Go to the first error
      </button>
    )}
  </>
);

export const RulePreviewSection = ({ rule }: { readonly rule: RuleInput }) => {
  useEffect(
    () => () => {
      backtest.clear();
      backtestedRule.value = '';
    },
    [],
  );
  const { response } = preview.state.value;
  return (
    <section class="trial" aria-label="Preview and backtest">
      <Card title="Preview">
        {response === undefined ? (
          <EmptyPreview />
        ) : (
          <>
            <ValuesChart past={response.past} />
            <CurrentInstances rulePreview={response} />
          </>
        )}
      </Card>
      {isPermitted(startBacktestCall) ? <BacktestSection rule={rule} /> : null}
      <Freshness queryState={preview.state.value} />
    </section>
  );
};
