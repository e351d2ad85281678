/** Under which client secrets are sealed. */
export const clientSecretPurpose = 'identity provider';
