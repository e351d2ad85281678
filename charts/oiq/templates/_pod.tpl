{{- /* Environment of every container: settings, secrets, and what this chart decides. */ -}}
{{- define "oiq.envFrom" -}}
{{- $name := .config | default (include "oiq.fullname" .root) -}}
- configMapRef: { name: {{ $name }} }
- secretRef: { name: {{ $name }} }
{{- if .root.Values.generateSecrets }}
- secretRef: { name: {{ include "oiq.fullname" .root }}-generated, optional: true }
{{- end }}
{{- with .root.Values.existingSecret }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- end -}}

{{- /* Settings that are keys of other Secrets. They go before those of envFrom. */ -}}
{{- define "oiq.secretEnv" -}}
{{- range $name, $ref := .Values.secretRefs }}
- name: OIQ_{{ $name }}
  valueFrom: { secretKeyRef: {{ toJson $ref }} }
{{- end }}
{{- end -}}

{{- define "oiq.podSettings" -}}
enableServiceLinks: false {{- /* A Service called oiq would bring OIQ_PORT, which is no setting. */}}
automountServiceAccountToken: false
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "oiq.containerPorts" -}}
- { name: http, containerPort: {{ .root.Values.ports.http }} }
{{- if has .role (list "receivers" "standalone") }}
- { name: otlp-grpc, containerPort: {{ .root.Values.ports.otlpGrpc }} }
- { name: otlp-http, containerPort: {{ .root.Values.ports.otlpHttp }} }
{{- end }}
{{- end -}}

{{- /* The pod of a role: root, role, part, args, values. */ -}}
{{- define "oiq.podTemplate" -}}
{{- $fullname := include "oiq.fullname" .root -}}
{{- $values := .values -}}
metadata:
  labels:
    {{- include "oiq.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
    oiq/part: {{ .part }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "oiq.configMap" .root | sha256sum }}
    checksum/secret: {{ include "oiq.secretMap" .root | sha256sum }}
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ $fullname }}-{{ .role }}
  {{- include "oiq.podSettings" .root | nindent 2 }}
  terminationGracePeriodSeconds: {{ include "oiq.grace" (dict "root" .root "values" $values) }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if $values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml $values.topologySpreadConstraints | nindent 4 }}
  {{- else if ne .role "standalone" }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "oiq.selector" $.root | nindent 10 }}
          oiq/part: {{ $.part }}
      matchLabelKeys: [pod-template-hash]
    {{- end }}
  {{- end }}
  {{- $before := get (dict "processors" "sinks" "receivers" "processors" "api" "receivers") .role }}
  {{- if and $before .root.Values.upgradeOrder.enabled }}
  initContainers:
    - name: wait-for-{{ $before }}
      image: {{ include "oiq.image" (dict "root" .root "tag" $values.imageTag) }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [wait-for-version, "http://{{ $fullname }}-{{ $before }}-pods:{{ .root.Values.ports.http }}", --seconds, "{{ .root.Values.upgradeOrder.maxWaitSeconds }}"]
      securityContext:
        {{- toYaml .root.Values.containerSecurityContext | nindent 8 }}
      resources:
        requests: { cpu: 50m, memory: 128Mi }
        limits: { memory: 256Mi }
  {{- end }}
  containers:
    - name: oiq
      image: {{ include "oiq.image" (dict "root" .root "tag" $values.imageTag) }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      envFrom:
        {{- include "oiq.envFrom" (dict "root" .root) | nindent 8 }}
      {{- $cluster := and (ne .role "standalone") (not $values.imageTag) }}
      {{- if or $cluster .root.Values.secretRefs $values.settings $values.extraEnv }}
      env:
        {{- if $cluster }}
        # Not in the ConfigMap: pods of a version that does not know it read that, too.
        - { name: OIQ_CLUSTER, value: "true" }
        {{- end }}
        {{- with include "oiq.secretEnv" .root }}
        {{- . | trim | nindent 8 }}
        {{- end }}
        {{- range $name, $value := $values.settings }}
        - { name: OIQ_{{ $name }}, value: {{ include "oiq.text" $value | quote }} }
        {{- end }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      ports:
        {{- include "oiq.containerPorts" . | nindent 8 }}
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 4
      {{- if has .role (list "receivers" "api" "standalone") }}
      # Endpoints learn of the end before the process does: it accepts no connection from SIGTERM on.
      lifecycle: { preStop: { sleep: { seconds: 5 } } }
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .root.Values.containerSecurityContext | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: {{ dir .root.Values.dataDirectory }} }
        - { name: tmp, mountPath: /tmp }
        {{- if .root.Values.plans }}
        - { name: plans, mountPath: /etc/oiq, readOnly: true }
        {{- end }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if ne .role "standalone" }}
    - { name: data, emptyDir: { sizeLimit: 256Mi } }
    {{- else if not $values.persistence.enabled }}
    - { name: data, emptyDir: { sizeLimit: {{ $values.persistence.size }} } }
    {{- else if $values.persistence.existingClaim }}
    - { name: data, persistentVolumeClaim: { claimName: {{ $values.persistence.existingClaim }} } }
    {{- end }}
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    {{- if .root.Values.plans }}
    - { name: plans, configMap: { name: {{ $fullname }}-plans } }
    {{- end }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
