import { z } from 'zod';
import type { CollectionDefinition } from '../../../schemas/ports/documents.ts';
import { alertRoutingId, alertRoutings } from '../../../schemas/resources/alert-routing.ts';
import { escalationPolicies } from '../../../schemas/resources/escalation-policy.ts';
import { type NotificationChannel, notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { ChannelSettings, channelTypes } from '../../../subjects/notification-channels/registry.ts';
import { parseTemplate, TemplateError } from '../../../subjects/notification-channels/template.ts';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { parsePrecondition } from '../../resources/preconditions.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { createSecretSchema, type SecretField } from '../../resources/resource-secrets.ts';

/** Returns the problem of a template; `undefined` if it is valid. */
const findTemplateProblem = (text: string): string | undefined => {
  try {
    parseTemplate(text);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
};
const TemplateText = z
  .string()
  .max(16_384)
  .superRefine((text, { addIssue }) => {
    const problem = findTemplateProblem(text);
    if (problem !== undefined) addIssue({ code: 'custom', message: problem });
  })
  .default('');

export const Templates = z.strictObject({
  title: TemplateText.describe('One line; empty for the default. {{name}} is a value, {{#alerts}}…{{/alerts}} a list'),
  text: TemplateText.describe('Empty for the default'),
});

/** The settings of every type, in which a secret may be replaced by the mask. */
export const MaskableSettings = z.discriminatedUnion(
  'type',
  ChannelSettings.options.map((settings, index) => {
    const secrets = Object.keys(channelTypes[index]?.secrets ?? {});
    const shape: Record<string, z.ZodType> = { ...settings.shape };
    for (const name of secrets) shape[name] = toMaskableSchema(shape[name] as z.ZodType<string>);
    return z.strictObject(shape) as z.ZodObject;
  }) as unknown as [z.ZodObject, ...z.ZodObject[]],
) as unknown as z.ZodType<NotificationChannel['settings']>;

function toMaskableSchema(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  const secretOrMask = createSecretSchema(inner as z.ZodType<string>);
  const describedSchema = schema.description === undefined ? secretOrMask : secretOrMask.describe(schema.description);
  return schema instanceof z.ZodOptional ? describedSchema.optional() : describedSchema;
}

const ChannelFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  enabled: z.boolean().default(true).describe('Whether notifications are sent to the channel'),
  settings: MaskableSettings,
  templates: Templates.default({ title: '', text: '' }),
  maxPerMinute: z
    .int()
    .min(1)
    .max(6000)
    .default(60)
    .describe('Maximum number of notifications per minute; further notifications wait'),
});

/**
 * Secret settings of all channel types. A secret with the same name in several types is one entry, with the destination
 * settings of all these types.
 */
export const channelSecrets: readonly SecretField[] = [
  ...new Set(channelTypes.flatMap(({ secrets }) => Object.keys(secrets))),
].map((name) => {
  const typesWithSecret = channelTypes.filter(({ secrets }) => name in secrets);
  return {
    path: `settings.${name}`,
    destination: [
      'settings.type',
      ...new Set(typesWithSecret.flatMap(({ secrets }) => (secrets[name] ?? []).map((field) => `settings.${field}`))),
    ],
    // A URL is a secret of a webhook, and the region of a service elsewhere.
    isIn: (fields) => typesWithSecret.some(({ type }) => type === (fields as NotificationChannel).settings.type),
  };
});

/** Maximum number per organization: each may receive as many notifications as there are groups. */
const maxChannels = 500;

export const channelResource = defineResource<typeof ChannelFields, NotificationChannel>({
  noun: 'notification channel',
  path: '/api/notification-channels',
  collection: notificationChannels as CollectionDefinition<NotificationChannel>,
  verbs: ['list', 'create', 'read', 'replace'],
  roles: { read: 'viewer', write: 'editor' },
  fields: ChannelFields,
  example: {
    name: 'On-call',
    description: 'People who are paged at night',
    settings: { type: 'webhook', url: 'https://hooks.example.com/alerts' },
  },
  secrets: channelSecrets,
  list: { searched: ['name', 'description'], filters: { type: createEqualsFilter('settings.type') } },
  maxCount: maxChannels,
});

export const deleteChannel = defineOperation({
  method: 'DELETE',
  path: '/api/notification-channels/{id}',
  operationId: 'deleteNotificationChannel',
  summary: 'Delete a notification channel, unless the alert routing or an escalation policy uses it',
  role: 'editor',
  audit: 'notification-channel.delete',
  versions: 'write',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, request, change }) {
    const precondition = parsePrecondition(request);
    await change(async (scope) => {
      const routing = await scope.forTenant(caller.tenantId).collection(alertRoutings).find(alertRoutingId);
      const usingReceivers = (routing?.receivers ?? []).filter(({ channelIds }) => channelIds.includes(params.id));
      if (usingReceivers.length > 0) {
        const names = usingReceivers.map(({ name }) => `“${name}”`).join(', ');
        const message = `the notification channel is in use by the alert routing (receivers ${names})`;
        throw new ApiError('CONFLICT', `${message}: remove it from them first`);
      }
      const policies = await scope
        .forTenant(caller.tenantId)
        .collection(escalationPolicies)
        .list({ filter: { 'steps.targets.id': params.id }, limit: 10 });
      if (policies.items.length > 0) {
        const names = policies.items.map(({ name, id }) => `“${name}” (${id})`).join(', ');
        const message = `the notification channel is in use by the escalation policies ${names}`;
        throw new ApiError('CONFLICT', `${message}: remove it from them first`);
      }
      await channelResource.createWriter(scope, caller).remove(params.id, { precondition });
    });
    return {};
  },
});
