/** Form fields for the alerts of an SLO: burn-rate rules, labels and annotations */
import { useState } from 'preact/hooks';
import { CheckInput, NumberInput, PairsInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import type { Alerting, FindProblem } from './calls.ts';

type Rule = NonNullable<Alerting['rules']>[number];

const alertingPath = 'query.alerting';
const severities = { page: 'page', ticket: 'ticket' } as const;
const defaultRule: Rule = { severity: 'page', rate: 14.4, long: '1h', short: '5m' };

const RuleFields = ({
  rule,
  index,
  findProblem,
  onChange,
  onRemove,
}: {
  readonly rule: Rule;
  readonly index: number;
  readonly findProblem: FindProblem;
  readonly onChange: (rule: Rule) => void;
  readonly onRemove: () => void;
}) => {
  const findFieldProblem = (field: keyof Rule): string | undefined =>
    findProblem(`${alertingPath}.rules.${index}.${field}`);
  return (
    <fieldset>
      <legend>Burn-rate rule {index + 1}</legend>
      <RecordSelectInput
        label="Severity"
        options={severities}
        value={rule.severity}
        problem={findFieldProblem('severity')}
        onChange={(severity) => onChange({ ...rule, severity })}
      />
      <NumberInput
        label="Burn rate"
        value={rule.rate}
        problem={findFieldProblem('rate')}
        onChange={(rate) => onChange({ ...rule, rate: rate ?? 0 })}
      />
      <TextInput
        label="Long window"
        maxLength={16}
        value={rule.long}
        problem={findFieldProblem('long')}
        onChange={(long) => onChange({ ...rule, long: long.trim() })}
      />
      <TextInput
        label="Short window"
        maxLength={16}
        value={rule.short}
        problem={findFieldProblem('short')}
        onChange={(short) => onChange({ ...rule, short: short.trim() })}
      />
      <button type="button" class="plain" onClick={onRemove}>
        Remove burn-rate rule {index + 1}
      </button>
    </fieldset>
  );
};

export const AlertingFields = ({
  alerting,
  findProblem,
  onChange,
}: {
  readonly alerting: Alerting;
  readonly findProblem: FindProblem;
  readonly onChange: (alerting: Alerting) => void;
}) => {
  const { rules, severityLabels = {} } = alerting;
  const [hasCustomRules, setHasCustomRules] = useState(rules !== undefined);
  const customRules = rules ?? [];
  const setRules = (newRules: readonly Rule[]): void => onChange({ ...alerting, rules: [...newRules] });
  const switchRules = (isCustom: boolean): void => {
    const { rules: _, ...others } = alerting;
    setHasCustomRules(isCustom);
    onChange(isCustom ? { ...others, rules: [defaultRule] } : others);
  };
  return (
    <>
      <CheckInput
        label="Burn-rate alerts on"
        value={alerting.enabled ?? true}
        onChange={(enabled) => onChange({ ...alerting, enabled })}
      />
      <CheckInput label="Custom burn-rate rules" value={hasCustomRules} onChange={switchRules} />
      {customRules.map((rule, index) => (
        <RuleFields
          key={index}
          rule={rule}
          index={index}
          findProblem={findProblem}
          onChange={(newRule) => setRules(customRules.with(index, newRule))}
          onRemove={() => setRules(customRules.toSpliced(index, 1))}
        />
      ))}
      {hasCustomRules ? (
        <button type="button" class="plain" onClick={() => setRules([...customRules, defaultRule])}>
          Add burn-rate rule
        </button>
      ) : null}
      <PairsInput
        label="Labels"
        value={alerting.labels ?? {}}
        problem={findProblem(`${alertingPath}.labels`)}
        onChange={(labels) => onChange({ ...alerting, labels })}
      />
      {(['page', 'ticket'] as const).map((severity) => (
        <PairsInput
          key={severity}
          label={severity === 'page' ? 'Labels of pages' : 'Labels of tickets'}
          value={severityLabels[severity] ?? {}}
          problem={findProblem(`${alertingPath}.severityLabels.${severity}`)}
          onChange={(labels) => onChange({ ...alerting, severityLabels: { ...severityLabels, [severity]: labels } })}
        />
      ))}
      <PairsInput
        label="Annotations"
        value={alerting.annotations ?? {}}
        problem={findProblem(`${alertingPath}.annotations`)}
        onChange={(annotations) => onChange({ ...alerting, annotations })}
      />
    </>
  );
};
