/** Forms of the routing: a route, a receiver, and named time intervals */
import { useState } from 'preact/hooks';
import { createProblemFinder } from '../../../editors/form-state.tsx';
import { CheckboxGroup, CheckInput, ListInput, SelectInput, TextInput } from '../../../editors/inputs.tsx';
import { IntervalListFields } from '../../../editors/intervals.tsx';
import { readParam } from '../../../frame/address.ts';
import { getTimeZoneName } from '../../../frame/format-time.ts';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { formatMatchers, parseMatchers } from '../alert-format.ts';
import {
  type AlertRouting,
  addRoute,
  createRoute,
  findRoute,
  type NamedTimeIntervals,
  putReceiver,
  putTimeIntervals,
  type Receiver,
  type Route,
  type RouteId,
  replaceRoute,
  rootId,
  toFreeReceiverName,
  toReceiver,
} from './changes.ts';
import { readTargetsParam, TargetFields } from './target-fields.tsx';
import { useRoutingChange } from './use-routing-change.ts';

interface FormProps {
  readonly routing: AlertRouting;
  readonly onDone: () => void;
}

const FormButtons = ({
  label,
  change,
  onSave,
  onCancel,
}: {
  readonly label: string;
  readonly change: ReturnType<typeof useRoutingChange>;
  readonly onSave: () => Promise<void>;
  readonly onCancel: () => void;
}) => (
  <div class="act">
    <button type="button" disabled={change.isRunning} onClick={() => void onSave()}>
      {label}
    </button>
    <button type="button" class="plain" onClick={onCancel}>
      Cancel
    </button>
    <ErrorMessage error={change.error} />
  </div>
);

const timingFields = [
  ['Group wait', 'groupWait', 'Wait of a new group for more alerts, such as 30s.'],
  ['Group interval', 'groupInterval', 'Minimum interval between notifications about changes of a group, such as 5m.'],
  ['Repeat interval', 'repeatInterval', 'Interval of repeated notifications without changes, such as 4h.'],
] as const;

const newReceiverOption = '\n';

/** Edits a route of the tree; with `parentId`, creates a child route. */
export const RouteForm = ({
  routing,
  id,
  parentId,
  onDone,
}: FormProps &
  ({ readonly id: RouteId; readonly parentId?: never } | { readonly id?: never; readonly parentId: RouteId })) => {
  const isRoot = id === rootId;
  const change = useRoutingChange();
  const [route, setRoute] = useState<Route>(
    () => (id === undefined ? undefined : findRoute(routing, id)) ?? createRoute({}),
  );
  const [matchersText, setMatchersText] = useState(() => formatMatchers({ matchers: [...route.matchers] }));
  const [newReceiver, setNewReceiver] = useState(() => {
    const targets = id === undefined ? readTargetsParam() : undefined;
    return targets === undefined
      ? undefined
      : toReceiver(toFreeReceiverName(routing, readParam('receiver').slice(0, 200)), targets);
  });
  const changeFields = (fields: Partial<Route>): void => setRoute((previous) => ({ ...previous, ...fields }));
  const path = id === undefined ? `${toPath(parentId)}.routes` : toPath(id);
  const findProblem = createProblemFinder(change.error);
  const save = async (): Promise<void> => {
    const matchers = isRoot
      ? []
      : parseMatchers(matchersText).map(({ operator = '=', ...matcher }) => ({ ...matcher, operator }));
    const saved = { ...route, matchers, ...(newReceiver === undefined ? {} : { receiver: newReceiver.name }) };
    const isSaved = await change.run((current) => {
      const withReceiver = newReceiver === undefined ? current : putReceiver(current, newReceiver, undefined);
      return id === undefined ? addRoute(withReceiver, parentId, saved) : replaceRoute(withReceiver, id, saved);
    }, routing);
    if (isSaved) onDone();
  };
  return (
    <div class="form">
      {isRoot ? (
        <p class="soft">The default route gets all alerts that no other route matches.</p>
      ) : (
        <TextInput
          label="Matchers"
          hint='All must match, for example team=shop, severity=~"critical|error"'
          value={matchersText}
          maxLength={16_384}
          problem={findProblem(`${path}.matchers`)}
          onChange={setMatchersText}
        />
      )}
      <SelectInput
        label="Receiver"
        value={newReceiver === undefined ? (route.receiver ?? '') : newReceiverOption}
        problem={findProblem(`${path}.receiver`)}
        options={[
          ...(isRoot ? [] : [['', 'Same as the parent route'] as const]),
          ...routing.receivers.map(({ name }) => [name, name] as const),
          [newReceiverOption, 'New receiver'],
        ]}
        onChange={(name) => {
          setNewReceiver(name === newReceiverOption ? toReceiver('', { channelIds: [] }) : undefined);
          if (name !== newReceiverOption) changeFields({ receiver: name === '' ? undefined : name });
        }}
      />
      {newReceiver === undefined ? null : (
        <fieldset>
          <legend>New receiver</legend>
          <ReceiverFields
            receiver={newReceiver}
            findProblem={(field) => findProblem(`receivers.${routing.receivers.length}.${field}`)}
            onChange={setNewReceiver}
          />
        </fieldset>
      )}
      <details open={isRoot || change.error !== undefined}>
        <summary>Grouping and timing</summary>
        <div class="form">
          <ListInput
            label="Group by"
            hint="Labels, separated by commas; ... for one notification per alert. Empty: as the parent route."
            value={route.groupBy ?? []}
            parseItem={(text) => text}
            formatItem={(text) => text}
            problem={findProblem(`${path}.groupBy`)}
            onChange={(labels) => changeFields({ groupBy: labels.length === 0 ? undefined : [...labels] })}
          />
          {timingFields.map(([label, name, hint]) => (
            <TextInput
              key={name}
              label={label}
              hint={hint}
              value={route[name] ?? ''}
              maxLength={32}
              problem={findProblem(`${path}.${name}`)}
              onChange={(text) => changeFields({ [name]: text.trim() === '' ? undefined : text.trim() })}
            />
          ))}
          {routing.timeIntervals.length === 0 || isRoot ? null : (
            <>
              <TimeIntervalChoice
                label="Mute during"
                routing={routing}
                value={route.muteTimeIntervals}
                onChange={(muteTimeIntervals) => changeFields({ muteTimeIntervals })}
              />
              <TimeIntervalChoice
                label="Notify only during"
                routing={routing}
                value={route.activeTimeIntervals}
                onChange={(activeTimeIntervals) => changeFields({ activeTimeIntervals })}
              />
            </>
          )}
          {isRoot ? null : (
            <CheckInput
              label="Continue with the next sibling route after a match"
              value={route.continue}
              onChange={(value) => changeFields({ continue: value })}
            />
          )}
        </div>
      </details>
      <FormButtons
        label={id === undefined ? 'Create route' : 'Save route'}
        change={change}
        onSave={save}
        onCancel={onDone}
      />
    </div>
  );
};

/** Path of a route in the document, as errors of the API name it */
const toPath = (id: RouteId): string =>
  [
    'route',
    ...id
      .split('/')
      .slice(1)
      .map((index) => `routes.${index}`),
  ].join('.');

const TimeIntervalChoice = ({
  label,
  routing: { timeIntervals },
  value,
  onChange,
}: {
  readonly label: string;
  readonly routing: AlertRouting;
  readonly value: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
}) => (
  <CheckboxGroup
    label={label}
    value={value}
    problem={undefined}
    options={timeIntervals.map(({ name }) => [name, name] as const)}
    onChange={onChange}
  />
);

const ReceiverFields = ({
  receiver,
  findProblem,
  onChange,
}: {
  readonly receiver: Receiver;
  readonly findProblem: (field: keyof Receiver) => string | undefined;
  readonly onChange: (receiver: Receiver) => void;
}) => (
  <>
    <TextInput
      label="Receiver name"
      value={receiver.name}
      problem={findProblem('name')}
      onChange={(name) => onChange({ ...receiver, name })}
    />
    <TargetFields
      targets={receiver}
      findProblem={findProblem}
      onChange={({ channelIds, escalationPolicyId }) => {
        const { escalationPolicyId: _, ...others } = receiver;
        onChange({
          ...others,
          channelIds: [...channelIds],
          ...(escalationPolicyId === undefined ? {} : { escalationPolicyId }),
        });
      }}
    />
    <CheckInput
      label="Notify when alerts are resolved"
      value={receiver.sendResolved}
      onChange={(sendResolved) => onChange({ ...receiver, sendResolved })}
    />
  </>
);

/** Edits a receiver; without one, creates a new receiver. */
export const ReceiverForm = ({
  routing,
  receiver: stored,
  onDone,
}: FormProps & { readonly receiver: Receiver | undefined }) => {
  const change = useRoutingChange();
  const [receiver, setReceiver] = useState<Receiver>(() => stored ?? toReceiver('', { channelIds: [] }));
  const index = stored === undefined ? routing.receivers.length : routing.receivers.indexOf(stored);
  const save = async (): Promise<void> => {
    if (await change.run((current) => putReceiver(current, receiver, stored?.name), routing)) onDone();
  };
  return (
    <div class="form">
      <ReceiverFields
        receiver={receiver}
        findProblem={(field) => createProblemFinder(change.error)(`receivers.${index}.${field}`)}
        onChange={setReceiver}
      />
      <FormButtons
        label={stored === undefined ? 'Create receiver' : 'Save receiver'}
        change={change}
        onSave={save}
        onCancel={onDone}
      />
    </div>
  );
};

/** Edits named time intervals; without some, creates new ones. */
export const TimeIntervalsForm = ({
  routing,
  intervals: stored,
  onDone,
}: FormProps & { readonly intervals: NamedTimeIntervals | undefined }) => {
  const change = useRoutingChange();
  const [intervals, setIntervals] = useState<NamedTimeIntervals>(
    () => stored ?? { name: '', timeIntervals: [{ location: getTimeZoneName() }] },
  );
  const index = stored === undefined ? routing.timeIntervals.length : routing.timeIntervals.indexOf(stored);
  const findProblem = createProblemFinder(change.error);
  const save = async (): Promise<void> => {
    if (await change.run((current) => putTimeIntervals(current, intervals, stored?.name), routing)) onDone();
  };
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={intervals.name}
        problem={findProblem(`timeIntervals.${index}.name`)}
        onChange={(name) => setIntervals({ ...intervals, name })}
      />
      <IntervalListFields
        title="Interval"
        value={intervals.timeIntervals}
        zone={getTimeZoneName()}
        listPath={`timeIntervals.${index}.timeIntervals`}
        findProblem={findProblem}
        onChange={(timeIntervals) =>
          setIntervals({ ...intervals, timeIntervals: timeIntervals as NamedTimeIntervals['timeIntervals'] })
        }
      />
      <FormButtons
        label={stored === undefined ? 'Create time intervals' : 'Save time intervals'}
        change={change}
        onSave={save}
        onCancel={onDone}
      />
    </div>
  );
};
