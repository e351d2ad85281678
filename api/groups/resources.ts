/** Every configuration resource. One line here makes it pass the contract of resources. */

import { licenseKeyResource } from '../identity/license-keys/resource.ts';
import type { RegisteredResource } from '../resources/resource.ts';
import { projectResource } from './projects/resource.ts';

export const resources: readonly RegisteredResource[] = [projectResource, licenseKeyResource];
