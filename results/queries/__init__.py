"""The only way to read facts: functions named after what asks, values in `shapes`.

Every function here has a fixed number of database queries, whatever the data.
"""
