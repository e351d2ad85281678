/** Alerts of an SLO: burn rate rules, and labels and annotations */
import { useState } from 'preact/hooks';
import { CheckInput, ChoiceInput, NumberInput, PairsInput, TextInput } from '../../editors/inputs.tsx';
import type { Alerting, WrongAt } from './calls.ts';

type Rule = NonNullable<Alerting['rules']>[number];

const at = 'query.alerting';
const severities = { page: 'page', ticket: 'ticket' } as const;
const defaultRule: Rule = { severity: 'page', rate: 14.4, long: '1h', short: '5m' };

const RuleFields = ({
  rule,
  index,
  wrong,
  onChange,
  onRemove,
}: {
  readonly rule: Rule;
  readonly index: number;
  readonly wrong: WrongAt;
  readonly onChange: (rule: Rule) => void;
  readonly onRemove: () => void;
}) => {
  const problem = (field: keyof Rule): string | undefined => wrong(`${at}.rules.${index}.${field}`);
  return (
    <fieldset>
      <legend>Burn-rate rule {index + 1}</legend>
      <ChoiceInput
        label="Severity"
        options={severities}
        value={rule.severity}
        problem={problem('severity')}
        onChange={(severity) => onChange({ ...rule, severity })}
      />
      <NumberInput
        label="Burn rate"
        value={rule.rate}
        problem={problem('rate')}
        onChange={(rate) => onChange({ ...rule, rate: rate ?? 0 })}
      />
      <TextInput
        label="Long window"
        maxLength={16}
        value={rule.long}
        problem={problem('long')}
        onChange={(long) => onChange({ ...rule, long: long.trim() })}
      />
      <TextInput
        label="Short window"
        maxLength={16}
        value={rule.short}
        problem={problem('short')}
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
  wrong,
  onChange,
}: {
  readonly alerting: Alerting;
  readonly wrong: WrongAt;
  readonly onChange: (alerting: Alerting) => void;
}) => {
  const { rules, severityLabels = {} } = alerting;
  const [isOwn, setOwn] = useState(rules !== undefined);
  const own = rules ?? [];
  const setRules = (next: readonly Rule[]): void => onChange({ ...alerting, rules: [...next] });
  const chooseOwn = (isNowOwn: boolean): void => {
    const { rules: _, ...others } = alerting;
    setOwn(isNowOwn);
    onChange(isNowOwn ? { ...others, rules: [defaultRule] } : others);
  };
  return (
    <fieldset>
      <legend>Burn-rate alerts</legend>
      <CheckInput
        label="Burn-rate alerts on"
        value={alerting.enabled ?? true}
        onChange={(enabled) => onChange({ ...alerting, enabled })}
      />
      <CheckInput label="Custom burn-rate rules" value={isOwn} onChange={chooseOwn} />
      {own.map((rule, index) => (
        <RuleFields
          key={index}
          rule={rule}
          index={index}
          wrong={wrong}
          onChange={(changed) => setRules(own.with(index, changed))}
          onRemove={() => setRules(own.toSpliced(index, 1))}
        />
      ))}
      {isOwn ? (
        <button type="button" class="plain" onClick={() => setRules([...own, defaultRule])}>
          Add burn-rate rule
        </button>
      ) : null}
      <PairsInput
        label="Labels, one per line"
        hint="team=shop"
        value={alerting.labels ?? {}}
        problem={wrong(`${at}.labels`)}
        onChange={(labels) => onChange({ ...alerting, labels })}
      />
      {(['page', 'ticket'] as const).map((severity) => (
        <PairsInput
          key={severity}
          label={severity === 'page' ? 'Labels of pages, one per line' : 'Labels of tickets, one per line'}
          value={severityLabels[severity] ?? {}}
          problem={wrong(`${at}.severityLabels.${severity}`)}
          onChange={(labels) => onChange({ ...alerting, severityLabels: { ...severityLabels, [severity]: labels } })}
        />
      ))}
      <PairsInput
        label="Annotations, one per line"
        value={alerting.annotations ?? {}}
        problem={wrong(`${at}.annotations`)}
        onChange={(annotations) => onChange({ ...alerting, annotations })}
      />
    </fieldset>
  );
};
