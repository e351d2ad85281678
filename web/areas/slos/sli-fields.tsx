/** Indicator of an SLO: requests of its service, good and total events by queries, or a value with a threshold */
import type { Query } from '../../../queries/query.ts';
import type { sloOperators } from '../../../subjects/slos/document.ts';
import { ChoiceInput, NumberInput } from '../../editors/inputs.tsx';
import { ofRecords, queryOf, writtenOf } from '../../editors/question.ts';
import { QuestionFields } from '../../editors/question-fields.tsx';
import { conditionOf } from '../../frame/conditions.ts';
import type { WrittenQuery, WrittenSlo, WrongAt } from './calls.ts';

type Sli = NonNullable<WrittenQuery['sli']>;
type Operator = (typeof sloOperators)[number];

export const kinds = {
  availability: 'Availability of a service',
  latency: 'Latency of a service',
  ratio: 'Ratio of good to total events, by queries',
  threshold: 'Threshold on an aggregation',
} as const;
type Kind = keyof typeof kinds;

const isFigure = (sli: Sli): boolean => sli.value !== undefined || sli.threshold !== undefined;

/** An imported SLO may have the type of the short form in addition to queries of its own. */
export const kindOf = ({ type = 'availability', query: { sli } }: WrittenSlo): Kind =>
  sli === undefined ? type : isFigure(sli) ? 'threshold' : 'ratio';

const begun = (kind: Kind, service: string): Sli | undefined => {
  const ofService = service === '' ? '' : conditionOf('service', service);
  const searched = (text: string): string => [ofService, text].filter((part) => part !== '').join(' ');
  const written = writtenOf(undefined);
  const count = (text: string) => queryOf('count logs', { ...written, text: searched(text) }) as Query;
  if (kind === 'ratio') return { bad: count('severity:error'), total: count('') } as Sli;
  const value = queryOf('figure traces', { ...written, text: ofService }) as Query;
  return kind === 'threshold' ? ({ value, operator: 'lte', threshold: 500_000_000 } as Sli) : undefined;
};

/** Returns an SLO converted to another kind of indicator. */
export const convertSli = ({ query, service = '' }: WrittenSlo, kind: Kind): Partial<WrittenSlo> => {
  const { sli: _, ...others } = query;
  const sli = begun(kind, service);
  return {
    type: kind,
    latencyThresholdMs: kind === 'latency' ? 500 : null,
    query: sli === undefined ? others : { ...others, sli },
  };
};

const operators: Readonly<Record<Operator, string>> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
};
const sides = { bad: 'bad events', good: 'good events' } as const;
const titles = { bad: 'Bad', good: 'Good', total: 'Total', value: 'Value' } as const;

export const SliFields = ({
  sli,
  wrong,
  onChange,
}: {
  readonly sli: Sli;
  readonly wrong: WrongAt;
  readonly onChange: (sli: Sli) => void;
}) => {
  const side = sli.good === undefined ? 'bad' : 'good';
  const renderPart = (part: keyof typeof titles) => (
    <fieldset key={part}>
      <legend>{titles[part]}</legend>
      <QuestionFields
        name={`Query of ${titles[part].toLowerCase()}`}
        query={sli[part] as Query | undefined}
        without={ofRecords}
        problem={wrong(`query.sli.${part}`)}
        onChange={(query) => onChange({ ...sli, [part]: query })}
      />
    </fieldset>
  );
  if (isFigure(sli))
    return (
      <>
        {renderPart('value')}
        <ChoiceInput
          label="A time slice is good if the value is"
          options={operators}
          value={sli.operator ?? 'lte'}
          problem={wrong('query.sli.operator')}
          onChange={(operator) => onChange({ ...sli, operator })}
        />
        <NumberInput
          label="Threshold"
          hint="In the unit of the value; span durations are in nanoseconds"
          isSigned={true}
          value={sli.threshold ?? null}
          problem={wrong('query.sli.threshold')}
          onChange={(value) => onChange({ ...sli, threshold: value ?? 0 })}
        />
      </>
    );
  return (
    <>
      <ChoiceInput
        label="Counted events"
        options={sides}
        value={side}
        problem={undefined}
        onChange={(next) => {
          const { good, bad, ...others } = sli;
          onChange({ ...others, [next]: good ?? bad });
        }}
      />
      {renderPart(side)}
      {renderPart('total')}
    </>
  );
};
