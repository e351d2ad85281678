/** Table of shifts, with the gaps in which no one is on call */

import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { formatNames, type NamesById } from '../../frame/people.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { EndOverride } from './overrides.tsx';
import type { ShiftOrGap } from './shifts.ts';

const gapReasons: Readonly<Record<string, string>> = {
  'no-one': 'no one is assigned to the shift',
  unreachable: 'the assignees of the shift cannot be reached',
};

/** People who are on call, or the reason why no one is */
export const OnCallPeople = ({
  userIds,
  reason,
  names,
}: Pick<ShiftOrGap, 'userIds' | 'reason'> & { readonly names: NamesById }) =>
  userIds.length === 0 ? (
    <span class="text-error">No one{reason === null ? '' : `: ${gapReasons[reason] ?? reason}`}</span>
  ) : (
    <b>{renderText(formatNames(userIds, names))}</b>
  );

/** Shifts in time order. Users with permission can end an override that lasts. */
export const ShiftTable = ({
  scheduleId,
  shifts,
  names,
}: {
  readonly scheduleId: string;
  readonly shifts: readonly ShiftOrGap[];
  readonly names: NamesById;
}) => (
  <table class="figures texts">
    <TableHeader columns={['From', 'Until', 'User', 'Layer']} />
    <tbody>
      {shifts.map(({ from, to, userIds, layer, overrideId, reason }) => (
        <tr key={from}>
          <td>{formatIsoMinute(from)}</td>
          <td>{formatIsoMinute(to)}</td>
          <td>
            <OnCallPeople userIds={userIds} reason={reason} names={names} />
          </td>
          <td>
            {overrideId === null ? (
              renderText(layer ?? '')
            ) : (
              <>
                Override {Date.parse(to) > Date.now() ? <EndOverride id={scheduleId} overrideId={overrideId} /> : null}
              </>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
