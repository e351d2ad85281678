/** Aggregations of the matching records, grouped by field values, as a table or over time */

import { ResultView } from '../../charts/result.tsx';
import { Field } from '../../editors/field.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { nameListFormat } from '../../search/completion.ts';
import { suggestLogFields } from '../../search/suggest-log-fields.ts';
import { SuggestedInput } from '../../search/suggested-input.tsx';
import { aggregateCall } from './calls.ts';
import { getLogQuery } from './log-search.ts';

/** API parameters with a form field */
const queryParameters = ['measure', 'groupBy', 'sort', 'step'] as const;
type AggregationParameters = Partial<Record<(typeof queryParameters)[number], string>>;

const AggregationForm = ({ findProblem }: { readonly findProblem: (path: string) => string | undefined }) => (
  <form
    class="toolbar"
    key={JSON.stringify(queryParameters.map((name) => readParam(name)))}
    onSubmit={(event) => {
      event.preventDefault();
      const formData = new FormData(event.currentTarget);
      setParams(Object.fromEntries(queryParameters.map((name) => [name, String(formData.get(name) ?? '').trim()])));
    }}
  >
    <Field label="Aggregations" problem={findProblem('measure')} hint="count, distinct(user.id), avg(bytes), p95(took)">
      <input
        name="measure"
        defaultValue={readParam('measure')}
        placeholder="count"
        maxLength={4096}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={findProblem('measure') !== undefined}
      />
    </Field>
    <Field label="Group by" problem={findProblem('groupBy')} hint="service, http.route">
      <SuggestedInput
        name="groupBy"
        label="Group by"
        value={readParam('groupBy')}
        format={nameListFormat}
        suggest={suggestLogFields}
        maxLength={4096}
        isInvalid={findProblem('groupBy') !== undefined}
      />
    </Field>
    <Field label="Sort by" problem={findProblem('sort')} hint="-count, service; default: highest first">
      <input
        name="sort"
        defaultValue={readParam('sort')}
        maxLength={512}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={findProblem('sort') !== undefined}
      />
    </Field>
    <label class="choice">
      <input type="checkbox" name="step" value="auto" defaultChecked={readParam('step') !== ''} /> Over time
    </label>
    <button type="submit">Run query</button>
  </form>
);

export const AggregationView = () => {
  const parameters: AggregationParameters = Object.fromEntries(
    queryParameters.map((name) => [name, readParam(name)]).filter(([, value]) => value !== ''),
  );
  const queryState = useQuery(aggregateCall, { query: { ...getLogQuery(), ...parameters } });
  const { response, error } = queryState;
  const hasFieldProblem = queryParameters.some((name) => error?.of(name) !== undefined);
  return (
    <>
      <AggregationForm findProblem={(path) => error?.of(path)} />
      {hasFieldProblem ? null : <ErrorMessage error={error} />}
      {response === undefined ? null : response.rows.length + response.series.length === 0 ? (
        <p class="said" role="status">
          No records in this range. {renderText(response.hint ?? '')}
        </p>
      ) : (
        <ResultView result={response} title={readParam('measure') || 'count'} />
      )}
      <Freshness queryState={queryState} />
    </>
  );
};
