/**
 * Registry of notification channel types, one line each. Settings, secrets, the list of types and the contract tests
 * are derived from it.
 */
import { z } from 'zod';
import type { ChannelType } from './definition.ts';
import { discord } from './types/discord.ts';
import { email } from './types/email.ts';
import { ntfy } from './types/ntfy.ts';
import { opsgenie } from './types/opsgenie.ts';
import { pagerduty } from './types/pagerduty.ts';
import { slack } from './types/slack.ts';
import { sms } from './types/sms.ts';
import { teams } from './types/teams.ts';
import { telegram } from './types/telegram.ts';
import { voice } from './types/voice.ts';
import { webhook } from './types/webhook.ts';

const registeredTypes = [
  webhook,
  email,
  slack,
  teams,
  discord,
  pagerduty,
  opsgenie,
  telegram,
  ntfy,
  sms,
  voice,
] as const;

export const channelTypes: readonly ChannelType[] = registeredTypes;

type Settings<Types> = {
  -readonly [Index in keyof Types]: Types[Index] extends { settings: infer Each } ? Each : never;
};

/** Settings of a channel of any type */
export const ChannelSettings = z.discriminatedUnion(
  'type',
  registeredTypes.map(({ settings }) => settings) as unknown as Settings<typeof registeredTypes>,
);
export type ChannelSettings = z.output<typeof ChannelSettings>;

/** Returns a channel type. Throws for an unknown type, because settings are validated when they are stored. */
export const findChannelType = (type: string): ChannelType => {
  const channelType = channelTypes.find((channelType) => channelType.type === type);
  if (channelType === undefined) throw new TypeError(`notification channel type ${type} does not exist`);
  return channelType;
};
