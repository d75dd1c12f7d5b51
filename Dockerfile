# One image for web, worker and beat; docker-compose.yml says which command each runs.
FROM python:3.13-slim AS packages
WORKDIR /app
COPY requirements/base.txt requirements/base.txt
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements/base.txt

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /data healthboard \
    && install -d -o healthboard -g healthboard /data
WORKDIR /app
COPY --from=packages /venv /venv
COPY . .
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HEALTHBOARD_DATA=/data
USER healthboard
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "healthboard.wsgi", "--bind", "0.0.0.0:8000"]
