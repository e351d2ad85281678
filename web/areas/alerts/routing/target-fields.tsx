/** Fields for what is notified: contact points, of which one can be created here, and an escalation policy */
import { useState } from 'preact/hooks';
import { CheckboxGroup, SelectInput } from '../../../editors/inputs.tsx';
import { readParam } from '../../../frame/address.ts';
import { isPermitted } from '../../../frame/rights.ts';
import { useQuery } from '../../../frame/use-query.ts';
import { escalationPoliciesCall } from '../../incidents/calls.ts';
import { channelsCall, createChannelCall } from '../channels/calls.ts';
import { ChannelEditor } from '../channels/editor.tsx';
import type { NotificationTargets } from './changes.ts';

/** Returns the targets in the parameter `notify` of the URL; `undefined` if there are none. */
export const readTargetsParam = (): NotificationTargets | undefined => {
  try {
    const { channelIds, escalationPolicyId } = JSON.parse(readParam('notify')) as NotificationTargets;
    return {
      channelIds: channelIds.map(String),
      ...(escalationPolicyId === undefined ? {} : { escalationPolicyId: String(escalationPolicyId) }),
    };
  } catch {
    return undefined;
  }
};

/** Returns the names of contact points and of escalation policies by id. */
export const useTargetNames = () => {
  const channels = useQuery(channelsCall, { query: { limit: 500 } }).response?.items ?? [];
  const policies = useQuery(escalationPoliciesCall, { query: { limit: 500 } }).response?.items ?? [];
  return { channels, policies };
};

/** Formats targets as `#shop (slack), on-call policy Shop`. */
export const formatTargets = (
  { channelIds, escalationPolicyId }: NotificationTargets,
  { channels, policies }: ReturnType<typeof useTargetNames>,
): string => {
  const parts = channelIds.map((id) => {
    const channel = channels.find((candidate) => candidate.id === id);
    return channel === undefined ? id : `${channel.name} (${channel.settings.type})`;
  });
  if (escalationPolicyId !== undefined)
    parts.push(`escalation policy ${policies.find(({ id }) => id === escalationPolicyId)?.name ?? escalationPolicyId}`);
  return parts.length === 0 ? 'no contact point' : parts.join(', ');
};

export const TargetFields = ({
  targets,
  findProblem = () => undefined,
  onChange,
}: {
  readonly targets: NotificationTargets;
  readonly findProblem?: (field: 'channelIds' | 'escalationPolicyId') => string | undefined;
  readonly onChange: (targets: NotificationTargets) => void;
}) => {
  const { channels, policies } = useTargetNames();
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      {channels.length === 0 ? null : (
        <CheckboxGroup
          label="Contact points"
          value={targets.channelIds}
          problem={findProblem('channelIds')}
          options={channels.map(({ id, name, settings }) => [id, `${name} (${settings.type})`] as const)}
          onChange={(channelIds) => onChange({ ...targets, channelIds })}
        />
      )}
      {!isPermitted(createChannelCall) ? null : isCreating ? (
        <fieldset>
          <legend>New contact point</legend>
          <ChannelEditor
            onSaved={(id) => {
              onChange({ ...targets, channelIds: [...targets.channelIds, id] });
              setIsCreating(false);
            }}
          />
          <button type="button" class="plain" onClick={() => setIsCreating(false)}>
            Cancel
          </button>
        </fieldset>
      ) : (
        <div>
          <button type="button" class="plain" onClick={() => setIsCreating(true)}>
            New contact point
          </button>
        </div>
      )}
      {policies.length === 0 ? null : (
        <SelectInput
          label="Escalation policy"
          hint="Opens an incident and pages the people on call."
          value={targets.escalationPolicyId ?? ''}
          problem={findProblem('escalationPolicyId')}
          options={[['', 'None'], ...policies.map(({ id, name }) => [id, name] as const)]}
          onChange={(id) =>
            onChange({ channelIds: targets.channelIds, ...(id === '' ? {} : { escalationPolicyId: id }) })
          }
        />
      )}
    </>
  );
};
