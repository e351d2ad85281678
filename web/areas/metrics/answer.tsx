/** The chart of what was asked. */
import { useEffect, useMemo } from 'preact/hooks';
import { Lines } from '../../charts/lines.tsx';
import { linesOf } from '../../charts/values.ts';
import { Question } from '../../client/question.ts';
import { KeepAsking } from '../../editors/kept.tsx';
import { overTimes } from '../../editors/question.ts';
import { change } from '../../frame/address.ts';
import { later } from '../../frame/later.tsx';
import { may } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { Freshness, Problem } from '../../frame/standing.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { chosen, groupBy, overTime, promql, question } from './asked.ts';
import { forecastCall, queryCall } from './calls.ts';
import { Exemplars } from './exemplars.tsx';
import { Promql } from './promql.tsx';

const Forecast = later(async () => (await import('./forecast.tsx')).Forecast);

const asked = new Question(queryCall);

const Builder = () => (
  <form
    class="toolbar"
    onSubmit={(event) => {
      event.preventDefault();
      change({ by: String(new FormData(event.currentTarget).get('by')).trim() });
    }}
  >
    <b>{shownText(chosen.value)}</b>
    <label>
      Over time{' '}
      <select value={overTime.value} onChange={({ currentTarget }) => change({ over: currentTarget.value })}>
        {Object.entries(overTimes).map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
    <label>
      One series for each{' '}
      <input
        key={groupBy.value.join()}
        name="by"
        defaultValue={groupBy.value.join(', ')}
        autocomplete="off"
        spellcheck={false}
        placeholder="service, host.name"
      />
    </label>
    <button type="submit">Ask</button>
  </form>
);

const Drawn = () => {
  const { answer } = asked.standing.value;
  const result = answer?.results['a'];
  const { steps, lines } = useMemo(() => linesOf(result ?? { series: [] }), [result]);
  if (result === undefined) return null;
  if (steps.length === 0)
    return (
      <p class="said" role="status">
        There are no values in this range. {shownText(result.hint ?? '')}
      </p>
    );
  return (
    <Lines
      title={promql.value || `${chosen.value}, ${overTimes[overTime.value]}`}
      unit={result.series[0]?.unit ?? ''}
      steps={steps}
      stepMs={result.stepMs ?? 0}
      lines={lines}
    />
  );
};

export const Asked = () => {
  const { from, to } = writtenRange.value;
  const query = question.value;
  useEffect(() => {
    if (query === undefined) asked.clear();
    else asked.ask({ body: { from, to, queries: { a: query } } });
    return () => asked.cancel();
  }, [from, to, query, refreshes.value]);
  const { error } = asked.standing.value;
  const atExpression = error?.details.find(({ path }) => path.endsWith('expression'))?.message;
  return (
    <>
      <Promql
        key={promql.value}
        value={promql.value}
        problem={atExpression}
        onAsk={(expression) => change({ promql: expression, metric: '', over: '', by: '' })}
      />
      {chosen.value === '' || promql.value !== '' ? null : <Builder />}
      {atExpression === undefined ? <Problem error={error} /> : null}
      {query === undefined ? null : (
        <>
          <p class="links">
            <KeepAsking query={query} title={chosen.value || promql.value} />
          </p>
          <Drawn />
          {chosen.value === '' || promql.value !== '' ? null : (
            <Exemplars metric={chosen.value} unit={asked.standing.value.answer?.results['a']?.series[0]?.unit ?? ''} />
          )}
          {may(forecastCall) ? <Forecast question={query} /> : null}
          <Freshness of={{ ...asked.standing.value, answer: asked.standing.value.answer?.results['a'] }} />
        </>
      )}
    </>
  );
};
