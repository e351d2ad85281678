/** Aggregations of the matching records, grouped by field values, as a table or over time */

import { ResultShown } from '../../charts/result.tsx';
import { Field } from '../../editors/field.tsx';
import { change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { aggregateCall } from './calls.ts';
import { logQuery } from './log-search.ts';

/** API parameters with a form field */
const queryParameters = ['measure', 'groupBy', 'sort', 'step'] as const;
type AggregationParameters = Partial<Record<(typeof queryParameters)[number], string>>;

const QueryForm = ({ problem }: { readonly problem: (path: string) => string | undefined }) => (
  <form
    class="toolbar"
    key={JSON.stringify(queryParameters.map((name) => inAddress(name)))}
    onSubmit={(event) => {
      event.preventDefault();
      const formData = new FormData(event.currentTarget);
      change(Object.fromEntries(queryParameters.map((name) => [name, String(formData.get(name) ?? '').trim()])));
    }}
  >
    <Field label="Aggregations" problem={problem('measure')} hint="count, distinct(user.id), avg(bytes), p95(took)">
      <input
        name="measure"
        defaultValue={inAddress('measure')}
        placeholder="count"
        maxLength={4096}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem('measure') !== undefined}
      />
    </Field>
    <Field label="Group by" problem={problem('groupBy')} hint="service, http.route">
      <input
        name="groupBy"
        defaultValue={inAddress('groupBy')}
        list="log-fields"
        maxLength={4096}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem('groupBy') !== undefined}
      />
    </Field>
    <Field label="Sort by" problem={problem('sort')} hint="-count, service; default: highest first">
      <input
        name="sort"
        defaultValue={inAddress('sort')}
        maxLength={512}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem('sort') !== undefined}
      />
    </Field>
    <label class="choice">
      <input type="checkbox" name="step" value="auto" defaultChecked={inAddress('step') !== ''} /> Over time
    </label>
    <button type="submit">Run query</button>
  </form>
);

export const AggregationView = () => {
  const parameters: AggregationParameters = Object.fromEntries(
    queryParameters.map((name) => [name, inAddress(name)]).filter(([, value]) => value !== ''),
  );
  const queryState = useQuery(aggregateCall, { query: { ...logQuery(), ...parameters } });
  const { answer, error } = queryState;
  const hasFieldProblem = queryParameters.some((name) => error?.of(name) !== undefined);
  return (
    <>
      <QueryForm problem={(path) => error?.of(path)} />
      {hasFieldProblem ? null : <Problem error={error} />}
      {answer === undefined ? null : answer.rows.length + answer.series.length === 0 ? (
        <p class="said" role="status">
          No records in this range. {shownText(answer.hint ?? '')}
        </p>
      ) : (
        <ResultShown result={answer} title={inAddress('measure') || 'count'} />
      )}
      <Freshness of={queryState} />
    </>
  );
};
