/** Side panel of a detection rule: its text, whether its telemetry is received, and editing, testing and enabling */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { declareDeleteCall, declareReadCall } from '../../client/call.ts';
import { Confirmation } from '../../components/confirmation.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { RawText } from '../../lists/raw.tsx';
import { LoadedItem } from '../../lists/read-one.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { Exceptions } from './exceptions.tsx';
import {
  BacktestSection,
  updateRuleCall as changeCall,
  createRuleCall,
  type Rule,
  RuleEditor,
} from './rule-editor.tsx';
import { TeamSettings } from './rule-settings.tsx';
import { SampleEventTest } from './sample.tsx';

/** Key of the editor for a new rule */
const newRuleKey = 'new';
const deleteRuleCall = declareDeleteCall('/api/siem/rules/{id}');

const RuleActions = ({ rule, onClose }: { readonly rule: Rule; readonly onClose: () => void }) => {
  const [action] = useState(() => new Action(changeCall));
  const [deleteAction] = useState(() => new Action(deleteRuleCall));
  const [isEditing, setIsEditing] = useState(false);
  const { id, version, enabled, title } = rule;
  if (!isPermitted(changeCall)) return null;
  if (isEditing) return <RuleEditor rule={rule} onDone={() => setIsEditing(false)} />;
  const toggleEnabled = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: { enabled: !enabled }, ifMatch: version })) !== undefined) refresh();
  };
  const deleteRule = async (): Promise<void> => {
    if ((await deleteAction.run({ params: { id }, ifMatch: version })) === undefined) return;
    onClose();
    refresh();
  };
  return (
    <div class="act">
      <button type="button" disabled={action.isRunning.value} onClick={() => void toggleEnabled()}>
        {enabled ? 'Disable' : 'Enable'}
      </button>
      <button type="button" class="plain" onClick={() => setIsEditing(true)}>
        Edit
      </button>
      <Confirmation
        label="Delete"
        title={<>Delete the rule “{renderText(title)}”?</>}
        confirmLabel="Delete rule"
        onConfirm={deleteRule}
      >
        Its signals are retained.
      </Confirmation>
      <ErrorMessage error={action.error.value ?? deleteAction.error.value} />
      <BacktestSection id={id} />
      {rule.kind === 'rule' ? <SampleEventTest id={id} /> : null}
      <TeamSettings rule={rule} />
    </div>
  );
};

const RuleDetails = ({ rule, onClose }: { readonly rule: Rule; readonly onClose: () => void }) => (
  <>
    <RuleActions key={rule.version} rule={rule} onClose={onClose} />
    <p>{renderText(rule.description, { lines: true })}</p>
    <ul class="links">
      <li>
        <Link url={toArea('/detections', { ruleId: rule.id })}>Signals</Link>
      </li>
    </ul>
    {rule.switchedOff === null ? null : (
      <p class="problem">
        The rule was disabled at {formatIsoTime(rule.switchedOff.at)} because its evaluation took too long.
      </p>
    )}
    <Fields
      values={{
        severity: rule.level,
        kind: rule.kind,
        status: rule.status,
        tags: rule.tags.join(', '),
        telemetry: rule.telemetry,
        'missing rules': rule.unknownRules.join(', '),
        note: rule.note,
        risk: rule.riskScore,
        'signals grouped by': rule.suppression?.by.join(', '),
        'recently suppressed': rule.hidden,
      }}
    />
    <Exceptions key={rule.version} rule={rule} />
    <h3>Sigma</h3>
    <RawText label="Sigma" text={rule.source} />
  </>
);

export const RulePanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Rule | undefined;
  readonly onClose: () => void;
}) => {
  if (id !== newRuleKey && item === undefined)
    return (
      <LoadedItem key={id} call={declareReadCall('/api/siem/rules/{id}')} id={id} label="Rule" onClose={onClose}>
        {(loadedRule) => <RulePanel id={id} item={loadedRule as Rule} onClose={onClose} />}
      </LoadedItem>
    );
  return (
    <SidePanel label="Rule" title={item?.title ?? 'New detection rule'} onClose={onClose}>
      {item === undefined ? <RuleEditor onDone={() => undefined} /> : <RuleDetails rule={item} onClose={onClose} />}
    </SidePanel>
  );
};

export const RuleTools = () => (
  <>
    {isPermitted(createRuleCall) ? (
      <button type="button" onClick={() => setParams({ open: newRuleKey })}>
        New detection rule
      </button>
    ) : null}
    <a href="/api/siem/rules/export" download={true}>
      Export all as Sigma
    </a>
  </>
);
