/** Form fields for the SLI of an SLO: requests of a service, a ratio of two queries, or a value with a threshold */
import type { Query } from '../../../queries/query.ts';
import type { sloOperators } from '../../../subjects/slos/document.ts';
import { NumberInput, RecordSelectInput } from '../../editors/inputs.tsx';
import { QueryFormFields } from '../../editors/query-fields.tsx';
import { recordKinds, toQuery, toQueryParams } from '../../editors/query-form.ts';
import { toCondition } from '../../frame/conditions.ts';
import type { FindProblem, SloInput, SloQueryInput } from './calls.ts';

type Sli = NonNullable<SloQueryInput['sli']>;
type Operator = (typeof sloOperators)[number];

export const sliKinds = {
  availability: 'Availability of a service',
  latency: 'Latency of a service',
  ratio: 'Ratio of two queries (good or bad to total events)',
  threshold: 'Threshold on an aggregation',
} as const;
type SliKind = keyof typeof sliKinds;

const isThresholdSli = (sli: Sli): boolean => sli.value !== undefined || sli.threshold !== undefined;

/** Returns the kind of SLI. An imported SLO may have both queries and the type of the short form; the queries win. */
export const toSliKind = ({ type = 'availability', query: { sli } }: SloInput): SliKind =>
  sli === undefined ? type : isThresholdSli(sli) ? 'threshold' : 'ratio';

const createDefaultSli = (kind: SliKind, service: string): Sli | undefined => {
  const serviceCondition = service === '' ? '' : toCondition('service', service);
  const addServiceCondition = (text: string): string =>
    [serviceCondition, text].filter((part) => part !== '').join(' ');
  const defaultParams = toQueryParams(undefined);
  const toCountQuery = (text: string) =>
    toQuery('count logs', { ...defaultParams, text: addServiceCondition(text) }) as Query;
  if (kind === 'ratio') return { bad: toCountQuery('severity:error'), total: toCountQuery('') } as Sli;
  const value = toQuery('figure traces', { ...defaultParams, text: serviceCondition }) as Query;
  return kind === 'threshold' ? ({ value, operator: 'lte', threshold: 500_000_000 } as Sli) : undefined;
};

/** Returns the fields that convert an SLO to another kind of SLI. */
export const convertSli = ({ query, service = '' }: SloInput, kind: SliKind): Partial<SloInput> => {
  const { sli: _, ...otherFields } = query;
  const sli = createDefaultSli(kind, service);
  return {
    type: kind,
    latencyThresholdMs: kind === 'latency' ? 500 : null,
    query: sli === undefined ? otherFields : { ...otherFields, sli },
  };
};

const operatorTitles: Readonly<Record<Operator, string>> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
};
const countedEventTitles = { bad: 'bad events', good: 'good events' } as const;
const titles = { bad: 'Bad', good: 'Good', total: 'Total', value: 'Value' } as const;

export const SliFields = ({
  sli,
  findProblem,
  onChange,
}: {
  readonly sli: Sli;
  readonly findProblem: FindProblem;
  readonly onChange: (sli: Sli) => void;
}) => {
  const countedEvents = sli.good === undefined ? 'bad' : 'good';
  const renderQueryFields = (part: keyof typeof titles) => (
    <fieldset key={part}>
      <legend>{titles[part]}</legend>
      <QueryFormFields
        name={`Query of ${titles[part].toLowerCase()}`}
        query={sli[part] as Query | undefined}
        excludedKinds={recordKinds}
        problem={findProblem(`query.sli.${part}`)}
        onChange={(query) => onChange({ ...sli, [part]: query })}
      />
    </fieldset>
  );
  if (isThresholdSli(sli))
    return (
      <>
        {renderQueryFields('value')}
        <RecordSelectInput
          label="A time slice is good if the value is"
          options={operatorTitles}
          value={sli.operator ?? 'lte'}
          problem={findProblem('query.sli.operator')}
          onChange={(operator) => onChange({ ...sli, operator })}
        />
        <NumberInput
          label="Threshold"
          hint="In the unit of the value. Span durations are in nanoseconds."
          isSigned={true}
          value={sli.threshold ?? null}
          problem={findProblem('query.sli.threshold')}
          onChange={(value) => onChange({ ...sli, threshold: value ?? 0 })}
        />
      </>
    );
  return (
    <>
      <RecordSelectInput
        label="Counted events"
        options={countedEventTitles}
        value={countedEvents}
        problem={undefined}
        onChange={(newSide) => {
          const { good, bad, ...others } = sli;
          onChange({ ...others, [newSide]: good ?? bad });
        }}
      />
      {renderQueryFields(countedEvents)}
      {renderQueryFields('total')}
    </>
  );
};
