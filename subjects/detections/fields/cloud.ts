/** Field tables of audit logs of clouds, Kubernetes and services */
import type { FieldTable } from './table.ts';

export const cloudTables: readonly FieldTable[] = [
  {
    name: 'aws-cloudtrail',
    summary: 'AWS CloudTrail',
    rules: [{ product: 'aws' }],
    roots: ['aws.cloudtrail', 'aws.cloudtrail.flattened', 'detail', 'Records'],
    fields: {
      eventSource: ['eventSource', 'event.provider'],
      eventName: ['eventName', 'event.action'],
      errorCode: ['errorCode', 'aws.cloudtrail.error_code'],
      errorMessage: ['errorMessage', 'aws.cloudtrail.error_message'],
      sourceIPAddress: ['sourceIPAddress', 'source.ip', 'source.address'],
      userAgent: ['userAgent', 'user_agent.original'],
      awsRegion: ['awsRegion', 'cloud.region'],
      'userIdentity.type': ['userIdentity.type', 'aws.cloudtrail.user_identity.type'],
      'userIdentity.arn': ['userIdentity.arn', 'aws.cloudtrail.user_identity.arn'],
      'userIdentity.userName': ['userIdentity.userName', 'user.name'],
      userIdentitytype: ['userIdentity.type'],
      eventType: ['eventType', 'aws.cloudtrail.event_type'],
    },
    sources: [
      {
        when: [
          { names: ['eventSource', 'event.provider', 'detail.eventSource'], values: ['*'] },
          {
            names: [
              'awsRegion',
              'userIdentity.type',
              'aws.cloudtrail.event_version',
              'eventVersion',
              'detail.awsRegion',
            ],
          },
        ],
        is: { product: 'aws', service: 'cloudtrail' },
        categories: { names: [], by: {} },
      },
    ],
  },
  {
    name: 'azure',
    summary: 'Azure activity, sign-in and audit logs, and Entra ID',
    rules: [{ product: 'azure' }],
    roots: [
      'properties',
      'azure.activitylogs',
      'azure.signinlogs.properties',
      'azure.signinlogs',
      'azure.auditlogs.properties',
      'azure.auditlogs',
    ],
    fields: {
      operationName: [
        'operationName',
        'operationName.value',
        'azure.activitylogs.operation_name',
        'operationNameValue',
      ],
      CategoryValue: ['CategoryValue', 'category.value', 'category'],
      ResourceProviderValue: ['ResourceProviderValue', 'resourceProviderName.value'],
      ResourceId: ['ResourceId', 'azure.resource.id'],
      ActivityDisplayName: ['activityDisplayName', 'properties.activityDisplayName', 'operationName'],
      'properties.message': ['properties.message', 'message', 'activityDisplayName', 'operationName'],
      LoggedByService: ['loggedByService', 'properties.loggedByService'],
      Category: ['category', 'properties.category'],
      ResultType: ['resultType', 'status.errorCode', 'properties.status.errorCode'],
      ResultDescription: ['resultDescription', 'status.failureReason', 'properties.status.failureReason'],
      AppId: ['appId', 'properties.appId'],
      AppDisplayName: ['appDisplayName', 'properties.appDisplayName'],
      ResourceDisplayName: ['resourceDisplayName', 'properties.resourceDisplayName'],
      ClientApp: ['clientAppUsed', 'properties.clientAppUsed'],
      UserAgent: ['userAgent', 'properties.userAgent', 'user_agent.original'],
      Initiatedby: ['initiatedBy.user.userPrincipalName', 'initiatedBy.app.displayName'],
    },
    sources: [
      {
        when: [
          {
            names: ['category'],
            values: [
              'signinlogs',
              'noninteractiveusersigninlogs',
              'serviceprincipalsigninlogs',
              'managedidentitysigninlogs',
            ],
          },
        ],
        is: { product: 'azure', service: 'signinlogs' },
      },
      {
        when: [
          { names: ['category'], values: ['auditlogs'] },
          { names: ['operationName', 'activityDisplayName', 'properties.activityDisplayName'] },
        ],
        is: { product: 'azure', service: 'auditlogs' },
      },
      {
        when: [
          { names: ['category', 'category.value'], values: ['administrative', 'policy', 'security', 'servicehealth'] },
          { names: ['operationName', 'operationName.value'] },
        ],
        is: { product: 'azure', service: 'activitylogs' },
      },
      {
        when: [{ names: ['riskEventType', 'properties.riskEventType'] }],
        is: { product: 'azure', service: 'riskdetection' },
      },
    ],
  },
  {
    name: 'gcp',
    summary: 'Google Cloud audit logs',
    rules: [{ product: 'gcp' }],
    roots: ['protoPayload', 'gcp.audit', 'jsonPayload'],
    fields: {
      'gcp.audit.method_name': ['gcp.audit.method_name', 'protoPayload.methodName', 'event.action'],
      'gcp.audit.service_name': ['gcp.audit.service_name', 'protoPayload.serviceName'],
      'data.protoPayload.serviceName': ['data.protoPayload.serviceName', 'protoPayload.serviceName'],
      'data.protoPayload.methodName': ['data.protoPayload.methodName', 'protoPayload.methodName'],
      'data.protoPayload.resourceName': ['data.protoPayload.resourceName', 'protoPayload.resourceName'],
      'data.protoPayload.logName': ['data.protoPayload.logName', 'logName'],
    },
    sources: [
      {
        when: [{ names: ['protoPayload.methodName', 'gcp.audit.method_name', 'data.protoPayload.methodName'] }],
        is: { product: 'gcp', service: 'gcp.audit' },
      },
    ],
  },
  {
    name: 'google-workspace',
    summary: 'Google Workspace audit',
    rules: [{ product: 'gcp', service: 'google_workspace.admin' }, { product: 'google_workspace' }],
    fields: {
      eventService: ['eventService', 'id.applicationName', 'protoPayload.serviceName'],
      eventName: ['eventName', 'events.name', 'protoPayload.metadata.event.eventName'],
    },
    sources: [
      {
        when: [{ names: ['id.applicationName'], values: ['admin', 'login'] }],
        is: { product: 'gcp', service: 'google_workspace.admin' },
      },
      {
        when: [{ names: ['eventService', 'protoPayload.serviceName'], values: ['admin.googleapis.com'] }],
        is: { product: 'gcp', service: 'google_workspace.admin' },
      },
    ],
  },
  {
    name: 'm365',
    summary: 'Microsoft 365 unified audit log',
    rules: [{ product: 'm365' }],
    roots: ['o365.audit', 'AuditData'],
    fields: {
      eventName: ['Operation', 'o365.audit.Operation', 'event.action', 'Name'],
      eventSource: ['Workload', 'Source', 'o365.audit.Workload', 'event.provider'],
      Operation: ['Operation', 'event.action'],
      status: ['ResultStatus', 'status', 'Status'],
      Payload: ['Payload', 'Data'],
    },
    sources: [
      {
        when: [{ names: ['Workload', 'o365.audit.Workload'] }, { names: ['Operation', 'o365.audit.Operation'] }],
        is: { product: 'm365' },
      },
    ],
  },
  {
    name: 'okta',
    summary: 'Okta system log',
    rules: [{ product: 'okta' }],
    roots: ['okta'],
    fields: {
      eventType: ['eventType', 'okta.event_type', 'event.action'],
      displayMessage: ['displayMessage', 'displaymessage', 'okta.display_message'],
      'actor.alternateId': ['actor.alternateId', 'actor.alternateid', 'okta.actor.alternate_id'],
    },
    sources: [
      {
        when: [{ names: ['displayMessage', 'okta.display_message'] }, { names: ['eventType', 'okta.event_type'] }],
        is: { product: 'okta', service: 'okta' },
      },
    ],
  },
  {
    name: 'github',
    summary: 'GitHub audit log',
    rules: [{ product: 'github' }],
    roots: ['github'],
    fields: { action: ['action', 'github.action', 'event.action'], actor: ['actor', 'github.actor', 'user.name'] },
    sources: [
      {
        when: [{ names: ['_document_id', 'github.org_id', 'org_id'] }, { names: ['action', 'github.action'] }],
        is: { product: 'github', service: 'audit' },
      },
    ],
  },
  {
    name: 'kubernetes-audit',
    summary: 'Audit log of the Kubernetes API server',
    rules: [{ product: 'kubernetes' }],
    roots: ['kubernetes.audit', 'k8s.audit'],
    fields: {
      verb: ['verb', 'kubernetes.audit.verb'],
      'objectRef.resource': ['objectRef.resource', 'kubernetes.audit.objectRef.resource'],
      'objectRef.subresource': ['objectRef.subresource', 'kubernetes.audit.objectRef.subresource'],
      'objectRef.namespace': ['objectRef.namespace', 'kubernetes.audit.objectRef.namespace'],
      'user.username': ['user.username', 'kubernetes.audit.user.username'],
      apiGroup: ['objectRef.apiGroup', 'apiGroup'],
      resource: ['objectRef.resource'],
      subresource: ['objectRef.subresource'],
      namespace: ['objectRef.namespace'],
      username: ['user.username'],
      capabilities: ['requestObject.spec.containers.securityContext.capabilities.add', 'capabilities'],
      hostPath: ['requestObject.spec.volumes.hostPath.path', 'hostPath'],
    },
    sources: [
      {
        when: [{ names: ['apiVersion'], values: ['audit.k8s.io/*'] }],
        is: { product: 'kubernetes', service: 'audit' },
        categories: { names: [], by: {} },
      },
      {
        when: [{ names: ['auditID', 'kubernetes.audit.auditID'] }, { names: ['verb', 'kubernetes.audit.verb'] }],
        is: { product: 'kubernetes', service: 'audit' },
      },
    ],
  },
  {
    name: 'kubernetes-application',
    summary: 'Kubernetes audit events for rules with the product `application`',
    rules: [{ category: 'application', product: 'kubernetes' }],
    fields: {},
    sources: [
      {
        when: [{ names: ['apiVersion'], values: ['audit.k8s.io/*'] }],
        is: { product: 'kubernetes', category: 'application' },
      },
    ],
  },
  {
    name: 'bitbucket',
    summary: 'Bitbucket audit log',
    rules: [{ product: 'bitbucket' }],
    fields: { 'auditType.action': ['auditType.action'], 'auditType.category': ['auditType.category'] },
    sources: [{ when: [{ names: ['auditType.action'] }], is: { product: 'bitbucket', service: 'audit' } }],
  },
];
