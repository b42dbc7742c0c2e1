"""The intermediate representation that every pass between the front end and the printer works on."""
