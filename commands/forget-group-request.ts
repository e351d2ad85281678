/** What `oiq forget-group` asks for, as it travels to a running instance, and how it is answered. */
import { processorGroups } from '../processors/index.ts';
import { formerGroup } from '../runtime/consumer-groups.ts';
import type { Bus } from '../schemas/ports/bus.ts';
import { sinkGroups } from '../sinks/index.ts';

export interface ForgetGroupRequest {
  readonly action: 'forget-group';
  readonly group: string;
}

export const runForgetGroup = async (
  { bus }: { readonly bus: Bus },
  { group }: ForgetGroupRequest,
  print: (line: string) => void,
): Promise<void> => {
  const own = [...sinkGroups, ...processorGroups].find(
    (each) => each.group === group || formerGroup(each.group) === group,
  );
  if (own !== undefined)
    throw new Error(
      `${own.group} is used by this version of OIQ: without offsets it would start again at the earliest record`,
    );
  await bus.forget(group);
  print(`group ${group} is deleted; data that was kept only for it is removed within a minute`);
};
