{{- define "studio.name" -}}
{{- if contains "capability-studio" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-capability-studio" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* (list $ "web-agents") */}}
{{- define "studio.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: capability-studio
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "studio.labels" -}}
{{- $root := index . 0 -}}
{{ include "studio.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end }}

{{- define "studio.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "studio.secret" -}}
{{ .Values.secrets.existingSecret | default (include "studio.name" .) }}
{{- end }}

{{/* The variables among the secrets, as a list in JSON. */}}
{{- define "studio.secretKeys" -}}
{{- if .Values.secrets.existingSecret }}{{ .Values.secrets.keys | sortAlpha | toJson }}{{ else }}{{ keys .Values.secrets.values | sortAlpha | toJson }}{{ end }}
{{- end }}

{{- define "studio.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "studio.name" .) }}
{{- end }}

{{- define "studio.host" -}}
{{ (urlParse .Values.publicUrl).host | splitList ":" | first }}
{{- end }}

{{/* What each container of ours has in its environment: no secret is in it, but the name of its file. */}}
{{- define "studio.environment" -}}
- {name: PUBLIC_URL, value: {{ .Values.publicUrl | quote }}}
{{- if not (hasKey .Values.settings "ALLOWED_HOSTS") }}
- {name: ALLOWED_HOSTS, value: {{ include "studio.host" . | quote }}}
{{- end }}
{{- if not (hasKey .Values.settings "LOG_FORMAT") }}
- {name: LOG_FORMAT, value: json}
{{- end }}
- {name: CHECKPOINT_FILE, value: /var/lib/checkpoint/last_checkpoint.json}
{{- range include "studio.secretKeys" . | fromJsonArray }}
- {name: {{ . }}_FILE, value: /run/secrets/studio/{{ . }}}
{{- end }}
{{- if .Values.secrets.signingKeySecret }}
- {name: SIGNING_KEY_FILE, value: /run/secrets/signing/signing_key.pem}
{{- end }}
{{- range $name, $value := .Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}

{{- define "studio.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: data, mountPath: /var/lib/studio}
- {name: checkpoint, mountPath: /var/lib/checkpoint}
- {name: secrets, mountPath: /run/secrets/studio, readOnly: true}
{{- if .Values.secrets.signingKeySecret }}
- {name: signing, mountPath: /run/secrets/signing, readOnly: true}
{{- end }}
{{- end }}

{{/* (list $ hasOwnCheckpoint): the volumes of a pod, the checkpoint's but where a claim has it. */}}
{{- define "studio.volumes" -}}
{{- $root := index . 0 -}}
- {name: tmp, emptyDir: {sizeLimit: 256Mi}}
- {name: data, emptyDir: {sizeLimit: 64Mi}}
{{- if not (index . 1) }}
- {name: checkpoint, emptyDir: {sizeLimit: 1Mi}}
{{- end }}
- name: secrets
  secret: {secretName: {{ include "studio.secret" $root }}, defaultMode: 0440}
{{- if $root.Values.secrets.signingKeySecret }}
- name: signing
  secret: {secretName: {{ $root.Values.secrets.signingKeySecret }}, defaultMode: 0440}
{{- end }}
{{- end }}

{{/* (list $ "web-agents" pods): what all pods have. `pods` are the values for where they go. */}}
{{- define "studio.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $pods := index . 2 -}}
serviceAccountName: {{ include "studio.serviceAccount" $root }}
# Nothing here calls the cluster.
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $root.Values.topologyKey }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: {{ $root.Values.topologyKey }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "studio.selector" (list $root $component) | nindent 8 }}
{{- end }}
{{- with $pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "studio.container" -}}
image: {{ include "studio.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "studio.metadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "studio.labels" . | nindent 2 }}
  {{- with $root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or $root.Values.podAnnotations (not $root.Values.secrets.existingSecret) }}
annotations:
  {{- with $root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if not $root.Values.secrets.existingSecret }}
  # Pods with another secret are other pods.
  checksum/secrets: {{ $root.Values.secrets.values | toJson | sha256sum }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "studio.checkpointClaim" -}}
- metadata: {name: checkpoint}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .Values.checkpoint.storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources: {requests: {storage: {{ .Values.checkpoint.size }}}}
{{- end }}

{{/* Which pods answer what, as deploy/nginx/parts/routes.conf has it; the longest prefix counts. /metrics is asked for
     inside, and what comes from outside is a page that is not there. */}}
{{- define "studio.routes" -}}
/: web-studio
/.well-known: web-agents
/api: web-agents
/api/v1/operator: web-studio
/clawhub: web-agents
/healthz: web-agents
/hooks: web-agents
/mcp: web-agents
/readyz: web-agents
/share: web-agents
{{- end }}
