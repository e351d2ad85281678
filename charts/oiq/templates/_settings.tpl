{{- /* A setting's text. Large numbers of YAML are floats, which would print as 1e+06. */ -}}
{{- define "oiq.text" -}}
{{- if kindIs "float64" . -}}{{ if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- else -}}{{ . }}
{{- end -}}
{{- end -}}

{{- /* What a role's pods have of a setting, as far as values tell: root, values, name. */ -}}
{{- define "oiq.settingOf" -}}
{{- $all := mergeOverwrite (dict) .root.Values.settings .root.Values.secretSettings .values.settings -}}
{{- include "oiq.text" (get $all .name) -}}
{{- end -}}

{{- define "oiq.configMap" -}}
OIQ_DATA_DIR: {{ .Values.dataDirectory | quote }}
OIQ_HTTP_ADDRESS: {{ printf "%s:%v" .Values.listenAddress (int .Values.ports.http) | quote }}
OIQ_OTLP_GRPC_ADDRESS: {{ printf "%s:%v" .Values.listenAddress (int .Values.ports.otlpGrpc) | quote }}
OIQ_OTLP_HTTP_ADDRESS: {{ printf "%s:%v" .Values.listenAddress (int .Values.ports.otlpHttp) | quote }}
{{- if .Values.plans }}
OIQ_PLANS_FILE: /etc/oiq/plans.json
{{- end }}
{{- range $name, $value := .Values.settings }}
OIQ_{{ $name }}: {{ include "oiq.text" $value | quote }}
{{- end }}
{{- end -}}

{{- /* As JSON, base64: what is left out of it later goes, unlike with stringData. */ -}}
{{- define "oiq.secretMap" -}}
{{- $data := dict -}}
{{- range $name, $value := .Values.secretSettings -}}
{{- $_ := set $data (printf "OIQ_%s" $name) (include "oiq.text" $value | b64enc) -}}
{{- end -}}
{{- toJson $data -}}
{{- end -}}

{{- /* Names of settings that are made where they are not given: what encrypts stored secrets lies in the volume of a standalone. */ -}}
{{- define "oiq.generatedNames" -}}
{{- $names := list "BOOTSTRAP_PASSWORD" -}}
{{- if eq .Values.mode "cluster" -}}{{- $names = append $names "SECRET_KEY" -}}{{- end -}}
{{- $left := list -}}
{{- range $names -}}{{- if not (or (hasKey $.Values.secretSettings .) (hasKey $.Values.secretRefs .)) -}}{{- $left = append $left . -}}{{- end -}}{{- end -}}
{{- join "," $left -}}
{{- end -}}

{{- /* Keys of the generated Secret, as a JSON list: those that it has, and those that nobody gives. */ -}}
{{- define "oiq.generatedKeys" -}}
{{- $keys := list -}}
{{- if .Values.generateSecrets -}}
{{- $there := (lookup "v1" "Secret" .Release.Namespace (printf "%s-generated" (include "oiq.fullname" .))).data | default dict -}}
{{- $given := (lookup "v1" "Secret" .Release.Namespace (.Values.existingSecret | default "-")).data | default dict -}}
{{- $keys = keys $there | sortAlpha -}}
{{- range without (splitList "," (include "oiq.generatedNames" .)) "" -}}
{{- $key := printf "OIQ_%s" . -}}
{{- if not (or (hasKey $there $key) (hasKey $given $key)) -}}{{- $keys = append $keys $key -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $keys -}}
{{- end -}}
