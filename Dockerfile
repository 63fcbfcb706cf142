# One image for every service of docker-compose.yml: what differs is the command. It holds no setting and no secret.
ARG PYTHON_IMAGE=python:3.13-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
RUN python -m venv /opt/venv
# By itself, so that a change of our own code installs nothing again.
COPY requirements-extras.lock /tmp/requirements.lock
RUN /opt/venv/bin/python -m pip install --require-hashes --no-deps --only-binary=:all: --no-compile \
      -r /tmp/requirements.lock
# What nothing here loads: what installs packages, their tests and stubs, their other languages, the interface of the
# models' runtime for other programs, a second implementation of zstd, and what draws letters, AVIF and other color spaces.
RUN cd /opt/venv/lib/python3*/site-packages \
    && rm -rf pip pip-* setuptools setuptools-* pkg_resources _distutils_hack distutils-precedence.pth \
      onnxruntime/capi/libonnxruntime.so.* onnxruntime/quantization onnxruntime/tools onnxruntime/transformers \
      numpy/_core/include numpy/_core/lib zstandard/_cffi.*.so \
      PIL/_avif.*.so PIL/_imagingcms.*.so PIL/_imagingft.*.so PIL/_imagingtk.*.so \
      pillow.libs/libavif-* pillow.libs/libfreetype-* pillow.libs/libharfbuzz-* pillow.libs/liblcms2-* \
    && find . -depth -name "*.pyi" -delete \
    && find . -type d -name tests -prune -exec rm -rf {} + \
    && find . -type d -path "*/locale/*/LC_MESSAGES" -not -path "*/locale/en/*" -prune -exec rm -rf {} +
WORKDIR /srv/studio
COPY . .
# Hashed names and compressed forms are made here, because the running container can write nothing.
RUN DATA_DIR=/tmp/build STATIC_DIR=/srv/studio/staticfiles /opt/venv/bin/python manage.py prepare_site --static
RUN /opt/venv/bin/python -m compileall -q -j 0 /opt/venv/lib /srv/studio

FROM ${PYTHON_IMAGE}
# Followed sources and imports are read with git, whose commands in Perl (mail, Subversion, the web) are not called.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /usr/share/perl /usr/lib/*/perl /usr/lib/*/libperl.so.* /usr/share/gitweb \
      /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc/* /usr/share/man/* /usr/share/locale/*
LABEL org.opencontainers.image.title="Capability Studio" \
      org.opencontainers.image.description="A self-hosted registry and publishing platform for agent capabilities" \
      org.opencontainers.image.licenses="Apache-2.0"
# A fixed number, so that volumes and security policies can name it.
RUN groupadd --system --gid 10001 studio \
    && useradd --uid 10001 --gid 10001 --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin studio \
    && install --directory --owner=studio --group=studio --mode=0700 /var/lib/studio /var/lib/checkpoint
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/studio /srv/studio
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_ARENA_MAX=2 \
    DJANGO_SETTINGS_MODULE=studio.settings \
    HOST=0.0.0.0 \
    PORT=8000 \
    DATA_DIR=/var/lib/studio \
    STATIC_DIR=/srv/studio/staticfiles
WORKDIR /srv/studio
VOLUME ["/var/lib/studio"]
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "deploy/probe.py", "http", "http://127.0.0.1:8000/healthz"]
# manage.py becomes the server without a shell between, so that it is the one to get the signal.
CMD ["python", "manage.py", "serve"]
