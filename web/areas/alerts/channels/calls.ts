/** API calls of the channels part */
import type { z } from 'zod';
import type { channelResource } from '../../../../api/groups/notification-channels/channel.ts';
import type { contactResource } from '../../../../api/groups/notification-channels/contact.ts';
import type { listChannelDeliveries } from '../../../../api/groups/notification-channels/deliveries.ts';
import type {
  previewTemplates,
  testChannel,
  testContact,
} from '../../../../api/groups/notification-channels/test-channel.ts';
import type { listChannelTypes } from '../../../../api/groups/notification-channels/types.ts';
import type { StoredMetadata } from '../../../../schemas/ports/documents.ts';
import type { NotificationChannel } from '../../../../schemas/resources/notification-channel.ts';
import {
  declareCall,
  declareCreateCall,
  declareDeleteCall,
  declareReplaceCall,
  type OperationDeclaration,
  type ResourceView,
  type ResponseBody,
  type WithFilters,
} from '../../../client/call.ts';

/** The resource declares no view, so a stored channel is displayed as it is, with masked secrets. */
export type Channel = NotificationChannel & StoredMetadata;
type ListEndpoint<Item> = WithFilters<
  OperationDeclaration & { readonly method: 'GET'; readonly response: z.ZodType<{ readonly items: readonly Item[] }> }
>;

/** A contact of a user. The API view only states whether each setting is present, so the settings use the type of a channel. */
export type Contact = Omit<ResourceView<typeof contactResource>, 'settings'> & Pick<Channel, 'settings'>;

/** Writable fields of a channel */
export type ChannelInput = Pick<Channel, 'name' | 'settings'> & Partial<NotificationChannel>;
type ChannelSchema = z.ZodType<unknown, ChannelInput>;
type ContactSchema = z.ZodType<unknown, Pick<Channel, 'name' | 'enabled' | 'settings'>>;

export const channelsCall = declareCall<ListEndpoint<Channel>>('GET', '/api/notification-channels');
export const channelTypesCall = declareCall<typeof listChannelTypes>('GET', '/api/notification-channels/types');
export const createChannelCall = declareCreateCall<typeof channelResource, ChannelSchema>('/api/notification-channels');
export const replaceChannelCall = declareReplaceCall<typeof channelResource, ChannelSchema>(
  '/api/notification-channels/{id}',
);
export const deleteChannelCall = declareDeleteCall('/api/notification-channels/{id}');
export const contactsCall = declareCall<ListEndpoint<Contact>>('GET', '/api/contacts');
export const createContactCall = declareCreateCall<typeof contactResource, ContactSchema>('/api/contacts');
export const replaceContactCall = declareReplaceCall<typeof contactResource, ContactSchema>('/api/contacts/{id}');
export const testContactCall = declareCall<typeof testContact>('POST', '/api/contacts/{id}/test');
export const previewTemplatesCall = declareCall<typeof previewTemplates>('POST', '/api/notification-channels/preview');
export const testChannelCall = declareCall<typeof testChannel>('POST', '/api/notification-channels/{id}/test');
export const deliveriesCall = declareCall<typeof listChannelDeliveries>(
  'GET',
  '/api/notification-channels/{id}/deliveries',
);

export type ChannelType = ResponseBody<typeof listChannelTypes>['items'][number];
export type Delivery = ResponseBody<typeof listChannelDeliveries>['items'][number];
